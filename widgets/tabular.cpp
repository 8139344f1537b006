// SPDX-License-Identifier: GPL-3.0-or-later
#include "tabular.h"

#include <QStyle>
#include <QStyleOption>
#include <algorithm>

namespace espalier {

namespace {

int digit_cell(const QFontMetrics& metrics) {
    int cell = 0;
    for (char16_t digit = u'0'; digit <= u'9'; ++digit)
        cell = std::max(cell, metrics.horizontalAdvance(QChar(digit)));
    return cell;
}

bool digits_are_equal(const QFontMetrics& metrics) {
    const int first = metrics.horizontalAdvance(QLatin1Char('0'));
    for (char16_t digit = u'1'; digit <= u'9'; ++digit)
        if (metrics.horizontalAdvance(QChar(digit)) != first)
            return false;
    return true;
}

} // namespace

int tabular_width(const QFontMetrics& metrics, const QString& text) {
    if (digits_are_equal(metrics))
        return metrics.horizontalAdvance(text);
    const int cell = digit_cell(metrics);
    int width = 0;
    for (const QChar character : text)
        width += character.isDigit() ? cell : metrics.horizontalAdvance(character);
    return width;
}

QString whole_parts(const QStringList& parts, const QFontMetrics& metrics, int width) {
    QString shown;
    for (const QString& part : parts) {
        const QString longer = shown.isEmpty() ? part : shown + QStringLiteral(" · ") + part;
        if (tabular_width(metrics, longer) > width)
            break;
        shown = longer;
    }
    return shown;
}

void draw_tabular(QPainter& painter, const QRect& rect, Qt::Alignment alignment, const QString& text) {
    const QFontMetrics metrics = painter.fontMetrics();
    if (digits_are_equal(metrics)) {
        painter.drawText(rect, static_cast<int>(alignment) | Qt::TextSingleLine, text);
        return;
    }
    const int cell = digit_cell(metrics);
    const int width = tabular_width(metrics, text);
    int x = rect.left();
    if (alignment & Qt::AlignRight)
        x = rect.right() + 1 - width;
    else if (alignment & Qt::AlignHCenter)
        x = rect.left() + (rect.width() - width) / 2;
    for (const QChar character : text) {
        const int advance = metrics.horizontalAdvance(character);
        const int room = character.isDigit() ? cell : advance;
        painter.drawText(QRect(x + (room - advance) / 2, rect.top(), advance + 2, rect.height()),
                         static_cast<int>((alignment & Qt::AlignVertical_Mask) | Qt::AlignLeft), QString(character));
        x += room;
    }
}

TabularLabel::TabularLabel(const QString& text, QWidget* parent) : QLabel(text, parent) {
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

QSize TabularLabel::sizeHint() const {
    const int width = std::max(widest_, tabular_width(fontMetrics(), text()));
    return {width + 1, fontMetrics().height()};
}

QSize TabularLabel::minimumSizeHint() const { return sizeHint(); }

void TabularLabel::set_number(const QString& text) {
    if (text == this->text())
        return;
    const int width = tabular_width(fontMetrics(), text);
    const bool wider = width > widest_;
    widest_ = std::max(width, widest_);
    setText(text);
    if (wider)
        updateGeometry();
}

void TabularLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    draw_tabular(painter, rect(), alignment(), text());
}

} // namespace espalier
