// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme.h"

#include <QComboBox>
#include <QPainter>
#include <QWheelEvent>

namespace espalier {

/// A combo box that draws its own arrow, in the theme's colour.
class ChoiceBox : public QComboBox {
public:
    using QComboBox::QComboBox;

protected:
    void paintEvent(QPaintEvent* event) override {
        QComboBox::paintEvent(event);
        QPainter painter(this);
        Theme::instance()
            .icon(QStringLiteral("chevron-down"), Role::secondary)
            .paint(&painter, QRect(width() - 22, (height() - 14) / 2, 14, 14));
    }
    void wheelEvent(QWheelEvent* event) override { event->ignore(); } // scrolling a form must not change it
};

} // namespace espalier
