// SPDX-License-Identifier: GPL-3.0-or-later
#include "state_band.h"

#include "theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>

namespace espalier {

namespace {
constexpr int lines_beside_actions = 2;
} // namespace

StateBand::StateBand(QWidget* parent)
    : QFrame(parent), row_(new QHBoxLayout(this)), title_(new QLabel(this)), detail_(new QLabel(this)),
      actions_(new QHBoxLayout) {
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
    row_->setContentsMargins(16, 10, 16, 10);
    row_->setSpacing(16);
    row_->addLayout(words, 1);
    actions_->setSpacing(12);
    row_->addLayout(actions_);
}

bool StateBand::event(QEvent* event) {
    if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Resize)
        arrange();
    return QFrame::event(event);
}

/// By the width alone, whichever way it stands now.
void StateBand::arrange() {
    const QMargins margins = row_->contentsMargins();
    const int room = width() - margins.left() - margins.right() - 16 - actions_->sizeHint().width();
    const bool below = actions_->count() > 0 && title_->heightForWidth(std::max(room, 1)) >
                                                    lines_beside_actions * title_->fontMetrics().lineSpacing() + 2;
    const auto direction = below ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight;
    if (row_->direction() == direction)
        return;
    row_->setDirection(direction);
    row_->setSpacing(below ? 8 : 16);
    row_->setAlignment(actions_, below ? Qt::AlignLeft : Qt::Alignment());
    updateGeometry();
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
