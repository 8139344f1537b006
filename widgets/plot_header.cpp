// SPDX-License-Identifier: GPL-3.0-or-later
#include "plot_header.h"

#include "tabular.h"

#include <QPainter>
#include <algorithm>

namespace espalier {

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
    const double middle = height / 2.0 + 0.5;
    const auto entry = [&](const Curve& curve) {
        const bool area = curve.shape == Curve::Shape::area;
        const int mark = area ? 7 : 18;
        const int text = metrics.horizontalAdvance(curve.name);
        if (x + mark + 4 + text > width)
            return;
        const QColor color = theme.color(curve.tag > 0 ? Role::secondary : curve.role);
        if (area) {
            painter.fillRect(QRectF(x, middle - 3.5, 7, 7), color);
        } else {
            QPen pen(color, 2);
            pen.setCapStyle(Qt::FlatCap);
            if (curve.shape == Curve::Shape::dash)
                pen.setDashPattern({2, 1});
            painter.setPen(pen);
            painter.drawLine(QPointF(x, middle), QPointF(x + mark, middle));
        }
        painter.setPen(area ? color : theme.color(Role::secondary));
        painter.drawText(QRect(x + mark + 4, 0, text + 2, height), Qt::AlignLeft | Qt::AlignVCenter, curve.name);
        x += mark + 4 + text + 12;
    };
    // the areas are given largest first so that they stack, and read from the bottom up
    const bool stacked = !curves_.empty() && curves_.front().shape == Curve::Shape::area;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        const Curve& curve = curves_[stacked ? curves_.size() - 1 - i : i];
        const bool named = curve.shape != Curve::Shape::faint && !curve.name.isEmpty();
        // of several runs, what each kind of line means is told once; the numbers tell the runs apart
        const bool told = curve.tag > 0 && std::ranges::find(curves_, curve.name, &Curve::name) - curves_.begin() <
                                               static_cast<std::ptrdiff_t>(i);
        if (named && !told)
            entry(curve);
    }
    if (!note_.isEmpty()) {
        painter.setPen(theme.color(Role::secondary));
        const QRect room(x, 0, width - x, height);
        draw_tabular(painter, room, Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(note_, Qt::ElideLeft, room.width()));
    }
}

} // namespace espalier
