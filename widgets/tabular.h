// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QPainter>

namespace espalier {

/// Width of `text` with every digit as wide as the widest one.
[[nodiscard]] int tabular_width(const QFontMetrics& metrics, const QString& text);
/// As many of the parts, the first ones, as fit into the width, with " · " between them: a part that is cut off would
/// say another number.
[[nodiscard]] QString whole_parts(const QStringList& parts, const QFontMetrics& metrics, int width);
/// Draws `text` so that changing digits move nothing: in fonts whose digits differ in width each sits in a cell of the
/// widest.
void draw_tabular(QPainter& painter, const QRect& rect, Qt::Alignment alignment, const QString& text);

/// A label for a number that changes: digits in fixed columns, and its width never shrinks by itself.
class TabularLabel : public QLabel {
    Q_OBJECT

public:
    explicit TabularLabel(const QString& text = {}, QWidget* parent = nullptr);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    void set_number(const QString& text); ///< sets the text; a wider one widens the label, a narrower one leaves it

protected:
    void paintEvent(QPaintEvent*) override;

private:
    int widest_ = 0;
};

} // namespace espalier
