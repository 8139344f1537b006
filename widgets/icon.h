// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QPainterPath>

namespace espalier {

/// The outline of an icon in resources/icons: a 16 by 16 drawing of strokes. Read here rather than by Qt's SVG module,
/// so that the window needs no plug-in whose absence would show as empty buttons. Knows `path` with M L H V C Z, `rect`
/// and `circle`; throws nothing, an element that it does not know fails the test of all icons.
[[nodiscard]] QPainterPath icon_outline(const QString& name, QString* problem = nullptr);

/// Draws the outline with round strokes of 1.5 (in its own 16 by 16 coordinates) into `target`.
void paint_icon(QPainter& painter, const QRectF& target, const QString& name, const QColor& color);

/// An icon that is drawn anew for every size and pixel ratio.
/// `beside_text`: drawn at the left of its square and smaller than it, which leaves a gap before a button's text.
[[nodiscard]] QIcon tinted_icon(const QString& name, const QColor& normal, const QColor& disabled,
                                bool beside_text = false);

} // namespace espalier
