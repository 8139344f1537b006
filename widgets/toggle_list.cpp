// SPDX-License-Identifier: GPL-3.0-or-later
#include "toggle_list.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace espalier {

namespace {

constexpr int title_width = 132;
constexpr int value_width = 40;

QLabel* text_label(const QString& text, const char* tone) {
    auto* label = new QLabel(text);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    if (*tone)
        label->setProperty("tone", tone);
    return label;
}

} // namespace

ToggleList::ToggleList(QWidget* parent) : QWidget(parent), column_(new QVBoxLayout(this)) {
    column_->setContentsMargins(0, 0, 0, 0);
}

void ToggleList::set_items(const std::vector<Item>& items) {
    if (items == items_)
        return;
    items_ = items;
    delete content_;
    content_ = new QWidget;
    auto* grid = new QGridLayout(content_);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(6);
    grid->setColumnMinimumWidth(0, title_width);
    grid->setColumnMinimumWidth(1, value_width);
    grid->setColumnStretch(2, 1);
    int line = 0;
    for (const Item& item : items_) {
        auto* title = new QLabel(item.title);
        title->setProperty("tone", "secondary");
        grid->addWidget(title, line, 0, Qt::AlignTop);
        auto* value = new QLabel(item.value);
        value->setObjectName(QStringLiteral("toggle-") + item.name);
        value->setProperty("strong", true);
        if (!item.change.isEmpty())
            value->setProperty("tone", "attention");
        grid->addWidget(value, line, 1, Qt::AlignTop);
        if (item.change.isEmpty()) {
            auto* sentence = text_label(item.sentence, "hint");
            sentence->setProperty("textSize", "small");
            grid->addWidget(sentence, line++, 2, 1, 2, Qt::AlignVCenter);
            continue;
        }
        auto* change = text_label(item.change, "attention");
        change->setProperty("textSize", "small");
        grid->addWidget(change, line, 2, Qt::AlignTop);
        if (item.can_be_undone) {
            auto* undo = new QPushButton(tr("Take it back"));
            undo->setObjectName(QStringLiteral("undo-") + item.name);
            undo->setAccessibleName(tr("Take %1 back").arg(item.title));
            connect(undo, &QPushButton::clicked, this, [this, name = item.name] { emit take_back_requested(name); });
            grid->addWidget(undo, line, 3, Qt::AlignTop);
        }
        ++line;
    }
    column_->addWidget(content_);
}

} // namespace espalier
