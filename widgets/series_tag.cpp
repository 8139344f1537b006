// SPDX-License-Identifier: GPL-3.0-or-later
#include "series_tag.h"

#include "color.h"

#include <QPainter>
#include <algorithm>

namespace espalier {

namespace {
constexpr double radius = 7; ///< logical pixels
}

Role tag_role(int number) {
    return static_cast<Role>(static_cast<int>(Role::series1) + std::clamp(number, 1, most_tags) - 1);
}

void draw_tag(QPainter& painter, const QPointF& center, int number) {
    const Theme& theme = Theme::instance();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.color(Role::panel), 1.5));
    const QColor ground = theme.color(tag_role(number));
    painter.setBrush(ground);
    painter.drawEllipse(center, radius, radius);
    painter.setPen(legible(ground).ink);
    painter.setFont(theme.font(TextSize::small, QFont::Bold));
    painter.drawText(QRectF(center.x() - radius, center.y() - radius, 2 * radius, 2 * radius), Qt::AlignCenter,
                     QString::number(number));
    painter.restore();
}

QPixmap tag_pixmap(int number, double pixel_ratio) {
    constexpr int side = 16;
    QPixmap pixmap(QSize(side, side) * pixel_ratio);
    pixmap.setDevicePixelRatio(pixel_ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    draw_tag(painter, {side / 2.0, side / 2.0}, number);
    return pixmap;
}

} // namespace espalier
