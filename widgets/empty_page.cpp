// SPDX-License-Identifier: GPL-3.0-or-later
#include "empty_page.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace espalier {

void lay_out_empty(QWidget& page, QLabel& words, std::initializer_list<QPushButton*> buttons) {
    words.setAlignment(Qt::AlignCenter);
    words.setWordWrap(true);
    words.setTextFormat(Qt::PlainText);
    words.setProperty("tone", "secondary");
    auto* column = new QVBoxLayout(&page);
    column->addStretch(1);
    column->addWidget(&words);
    column->addSpacing(8);
    for (QPushButton* button : buttons)
        column->addWidget(button, 0, Qt::AlignHCenter);
    column->addStretch(1);
}

} // namespace espalier
