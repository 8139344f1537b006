// SPDX-License-Identifier: GPL-3.0-or-later
#include "state_band.h"

#include "theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>

namespace espalier {

StateBand::StateBand(QWidget* parent)
    : QFrame(parent), title_(new QLabel(this)), detail_(new QLabel(this)), actions_(new QHBoxLayout) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    title_->setProperty("strong", true);
    title_->setTextFormat(Qt::PlainText);
    title_->setWordWrap(true);
    title_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    detail_->setProperty("tone", "secondary");
    detail_->setTextFormat(Qt::PlainText);
    detail_->setWordWrap(true);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    words->addWidget(title_);
    words->addWidget(detail_);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, 10, 16, 10);
    row->setSpacing(16);
    row->addLayout(words, 1);
    actions_->setSpacing(12);
    row->addLayout(actions_);
}

void StateBand::set_message(Tone tone, const QString& title, const QString& detail) {
    const char* const name = tone == Tone::fault ? "fault" : tone == Tone::attention ? "attention" : "info";
    setProperty("band", name);
    title_->setProperty("tone", tone == Tone::info ? QVariant() : QVariant(name));
    title_->setText(title);
    set_detail(detail);
    setAccessibleName(title);
    for (QWidget* widget : {static_cast<QWidget*>(this), static_cast<QWidget*>(title_)}) {
        widget->style()->unpolish(widget);
        widget->style()->polish(widget);
    }
}

void StateBand::set_detail(const QString& detail) {
    if (detail != detail_->text())
        detail_->setText(detail);
    detail_->setVisible(!detail.isEmpty());
    setAccessibleDescription(detail);
}

void StateBand::clear_actions() {
    while (QLayoutItem* item = actions_->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater(); // it may be the sender of what brought us here
        delete item;
    }
}

QPushButton* StateBand::add_action(const QString& text, const QString& icon, bool primary) {
    auto* button = new QPushButton(text, this);
    if (primary)
        button->setProperty("kind", "primary");
    if (!icon.isEmpty()) {
        const auto tint = [button, icon, primary] {
            button->setIcon(Theme::instance().button_icon(icon, primary ? Role::on_accent : Role::text));
        };
        tint();
        connect(&Theme::instance(), &Theme::changed, button, tint);
    }
    actions_->addWidget(button);
    return button;
}

} // namespace espalier
