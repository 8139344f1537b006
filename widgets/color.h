// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>

namespace espalier {

/// `share` of the one over the rest of the other.
[[nodiscard]] QColor mixed(const QColor& over, const QColor& under, double share);

/// Of two colours, 1 to 21 (WCAG 2.1).
[[nodiscard]] double contrast(const QColor& one, const QColor& other);

/// A ground for words and their colour, of which the ground is as asked for, or the nearest to it on which the words
/// can be read (a contrast of 4.5).
struct Legible {
    QColor ground, ink;
};
/// The ink is that one of the theme's two text colours which is easier to read.
[[nodiscard]] Legible legible(const QColor& ground);

} // namespace espalier
