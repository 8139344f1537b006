// SPDX-License-Identifier: GPL-3.0-or-later
#include "plot_header.h"

#include "tabular.h"

#include <QPainter>
#include <algorithm>

namespace espalier {

namespace {

constexpr int before_name = 4, widest_gap = 12, least_gap = 6, least_name = 24;

int mark_of(const Curve& curve) { return curve.shape == Curve::Shape::area ? 7 : 18; }

} // namespace

PlotHeader::PlotHeader(QWidget* parent) : QWidget(parent) { setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed); }

void PlotHeader::set_title(const QString& title) {
    title_ = title;
    update();
}

void PlotHeader::set_curves(const std::vector<Curve>& curves) {
    curves_ = curves;
    update();
}

void PlotHeader::set_note(const QString& note) {
    if (note == note_)
        return;
    note_ = note;
    update();
}

void PlotHeader::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    draw(painter, size());
}

std::vector<const Curve*> PlotHeader::legend() const {
    std::vector<const Curve*> told;
    // the areas are given largest first so that they stack, and read from the bottom up
    const bool stacked = !curves_.empty() && curves_.front().shape == Curve::Shape::area;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        const Curve& curve = curves_[stacked ? curves_.size() - 1 - i : i];
        const bool named = curve.shape != Curve::Shape::faint && !curve.name.isEmpty();
        // of several runs, what each kind of line means is told once; the numbers tell the runs apart
        const bool again = curve.tag > 0 && std::ranges::find(curves_, curve.name, &Curve::name) - curves_.begin() <
                                                static_cast<std::ptrdiff_t>(i);
        if (named && !again)
            told.push_back(&curve);
    }
    return told;
}

void PlotHeader::draw(QPainter& painter, const QSize& size) const {
    const Theme& theme = Theme::instance();
    const int width = size.width(), height = size.height();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme.font(TextSize::normal, QFont::DemiBold));
    painter.setPen(theme.color(Role::text));
    int x = 0;
    painter.drawText(QRect(x, 0, width, height), Qt::AlignLeft | Qt::AlignVCenter, title_);
    x += painter.fontMetrics().horizontalAdvance(title_) + 12;

    painter.setFont(theme.font(TextSize::small));
    const QFontMetrics metrics = painter.fontMetrics();
    const std::vector<const Curve*> told = legend();
    // Each area needs its colour explained: the gaps give way, then the longest names.
    const auto needed = [&](int gap, int longest) {
        int sum = 0;
        for (const Curve* curve : told)
            sum += mark_of(*curve) + before_name + std::min(metrics.horizontalAdvance(curve->name), longest) + gap;
        return sum - gap;
    };
    int gap = widest_gap, longest = width;
    while (gap > least_gap && needed(gap, longest) > width - x)
        --gap;
    while (longest > least_name && needed(gap, longest) > width - x)
        --longest;
    const double middle = height / 2.0 + 0.5;
    for (const Curve* curve : told) {
        const bool area = curve->shape == Curve::Shape::area;
        const int mark = mark_of(*curve);
        const QString name = metrics.elidedText(curve->name, Qt::ElideRight, longest);
        const int text = metrics.horizontalAdvance(name);
        if (x + mark + before_name + text > width)
            continue;
        const QColor color = theme.color(curve->tag > 0 ? Role::secondary : curve->role);
        if (area) {
            painter.fillRect(QRectF(x, middle - mark / 2.0, mark, mark), color);
        } else {
            QPen pen(color, 2);
            pen.setCapStyle(Qt::FlatCap);
            if (curve->shape == Curve::Shape::dash)
                pen.setDashPattern({2, 1});
            painter.setPen(pen);
            painter.drawLine(QPointF(x, middle), QPointF(x + mark, middle));
        }
        painter.setPen(theme.color(Role::secondary));
        painter.drawText(QRect(x + mark + before_name, 0, text + 2, height), Qt::AlignLeft | Qt::AlignVCenter, name);
        x += mark + before_name + text + gap;
    }
    if (!note_.isEmpty()) {
        painter.setPen(theme.color(Role::secondary));
        const QRect room(x, 0, width - x, height);
        draw_tabular(painter, room, Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(note_, Qt::ElideLeft, room.width()));
    }
}

} // namespace espalier
