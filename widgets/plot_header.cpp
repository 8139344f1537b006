// SPDX-License-Identifier: GPL-3.0-or-later
#include "plot_header.h"

#include "tabular.h"

#include <QPainter>
#include <algorithm>

namespace espalier {

namespace {

constexpr int before_name = 4, widest_gap = 12, least_gap = 6, before_legend = 12;
constexpr int first_line = 20, next_line = 16; ///< their heights

int mark_of(const Curve& curve) { return curve.shape == Curve::Shape::area ? 7 : 18; }

} // namespace

PlotHeader::PlotHeader(QWidget* parent) : QWidget(parent) { setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed); }

void PlotHeader::set_title(const QString& title) {
    title_ = title;
    fit_height();
    update();
}

void PlotHeader::set_curves(const std::vector<Curve>& curves) {
    curves_ = curves;
    fit_height();
    update();
}

void PlotHeader::set_note(const QStringList& forms) {
    if (forms == note_)
        return;
    note_ = forms;
    update();
}

void PlotHeader::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    draw(painter, size());
}

void PlotHeader::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit_height();
}

void PlotHeader::fit_height() {
    const std::vector<Entry> entries = placed(width());
    setFixedHeight(first_line + (entries.empty() ? 0 : entries.back().line * next_line));
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

std::vector<PlotHeader::Entry> PlotHeader::placed(int width) const {
    const Theme& theme = Theme::instance();
    const QFontMetrics metrics(theme.font(TextSize::small));
    const std::vector<const Curve*> told = legend();
    int x = QFontMetrics(theme.font(TextSize::normal, QFont::DemiBold)).horizontalAdvance(title_) + before_legend;
    int needed = x - widest_gap;
    for (const Curve* curve : told)
        needed += mark_of(*curve) + before_name + metrics.horizontalAdvance(curve->name) + widest_gap;
    const int gaps = std::max(1, static_cast<int>(told.size()) - 1);
    const int gap = std::clamp(widest_gap - (std::max(0, needed - width) + gaps - 1) / gaps, least_gap, widest_gap);
    std::vector<Entry> entries;
    int line = 0;
    for (const Curve* curve : told) {
        const int before = mark_of(*curve) + before_name;
        if (x > 0 && x + before + metrics.horizontalAdvance(curve->name) > width) {
            x = 0;
            ++line;
        }
        const QString name = metrics.elidedText(curve->name, Qt::ElideRight, width - before);
        const int end = x + before + metrics.horizontalAdvance(name);
        entries.push_back({curve, name, x, line, end});
        x = end + gap;
    }
    return entries;
}

void PlotHeader::draw(QPainter& painter, const QSize& size) const {
    const Theme& theme = Theme::instance();
    const int width = size.width();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme.font(TextSize::normal, QFont::DemiBold));
    painter.setPen(theme.color(Role::text));
    painter.drawText(QRect(0, 0, width, first_line), Qt::AlignLeft | Qt::AlignVCenter, title_);
    QRect room(0, 0, width, first_line); // of what stands behind the title, then behind the legend
    room.setLeft(painter.fontMetrics().horizontalAdvance(title_) + before_legend);

    painter.setFont(theme.font(TextSize::small));
    const QFontMetrics metrics = painter.fontMetrics();
    for (const Entry& entry : placed(width)) {
        if (entry.line > 0)
            room = QRect(0, first_line + (entry.line - 1) * next_line, width, next_line);
        const Curve& curve = *entry.curve;
        const int mark = mark_of(curve), x = entry.x;
        const double middle = room.top() + room.height() / 2.0 + 0.5;
        const QColor color = theme.color(curve.tag > 0 ? Role::secondary : curve.role);
        if (curve.shape == Curve::Shape::area) {
            painter.fillRect(QRectF(x, middle - mark / 2.0, mark, mark), color);
        } else {
            QPen pen(color, 2);
            pen.setCapStyle(Qt::FlatCap);
            if (curve.shape == Curve::Shape::dash)
                pen.setDashPattern({2, 1});
            painter.setPen(pen);
            painter.drawLine(QPointF(x, middle), QPointF(x + mark, middle));
        }
        painter.setPen(theme.color(Role::secondary));
        room.setLeft(x + mark + before_name);
        painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, entry.name);
        room.setLeft(entry.end + least_gap);
    }
    if (note().isEmpty())
        return;
    const auto fits = [&](const QString& form) { return tabular_width(metrics, form) <= room.width(); };
    const auto form = std::ranges::find_if(note_, fits);
    painter.setPen(theme.color(Role::secondary));
    draw_tabular(painter, room, Qt::AlignRight | Qt::AlignVCenter,
                 form != note_.end() ? *form : metrics.elidedText(note_.back(), Qt::ElideLeft, room.width()));
}

} // namespace espalier
