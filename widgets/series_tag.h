// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme.h"

#include <QPixmap>

class QPainter;

namespace espalier {

/// The most curves of one metric that are told apart: as many colours and numbers.
inline constexpr int most_tags = 8;

/// Colour of the curves with that number, from 1 to most_tags.
[[nodiscard]] Role tag_role(int number);
/// A disc in the series' colour with its number in it: what a curve is known by without colour.
void draw_tag(QPainter& painter, const QPointF& center, int number);
[[nodiscard]] QPixmap tag_pixmap(int number, double pixel_ratio);

} // namespace espalier
