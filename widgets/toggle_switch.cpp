// SPDX-License-Identifier: GPL-3.0-or-later
#include "toggle_switch.h"

#include "icon.h"
#include "theme.h"

#include <QPainter>

namespace espalier {

namespace {
constexpr QSize track(28, 16);
constexpr int switch_gap = 8;
constexpr int words_inset = 3;
} // namespace

ToggleSwitch::ToggleSwitch(const QString& text, QWidget* parent) : QAbstractButton(parent) {
    setText(text);
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setCursor(Qt::PointingHandCursor);
}

QSize ToggleSwitch::sizeHint() const {
    const int words = text().isEmpty() ? 0 : words_inset + fontMetrics().horizontalAdvance(text()) + switch_gap;
    return {words + track.width(), 26};
}

void ToggleSwitch::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme.color(isEnabled() ? Role::secondary : Role::hint));
    painter.drawText(rect().adjusted(words_inset, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, text());
    const QRectF box(width() - track.width(), (height() - track.height()) / 2.0, track.width(), track.height());
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.color(isChecked() ? (isEnabled() ? Role::accent : Role::hint) : Role::border));
    painter.drawRoundedRect(box, box.height() / 2, box.height() / 2);
    if (hasFocus()) {
        painter.setPen(QPen(theme.color(isChecked() ? Role::text : Role::accent), 2));
        painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), box.height() / 2 - 1, box.height() / 2 - 1);
        painter.setPen(Qt::NoPen);
    }
    painter.setBrush(theme.color(Role::panel));
    const double radius = box.height() / 2 - 2;
    const double x = isChecked() ? box.right() - radius - 2 : box.left() + radius + 2;
    painter.drawEllipse(QPointF(x, box.center().y()), radius, radius);
}

} // namespace espalier
