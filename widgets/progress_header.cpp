// SPDX-License-Identifier: GPL-3.0-or-later
#include "progress_header.h"

#include "tabular.h"

#include <QHBoxLayout>
#include <QPainter>
#include <cmath>

namespace espalier {

namespace {

constexpr int bar_width = 200;
constexpr int least_bar_width = 48;
constexpr int header_gap = 12;
constexpr int least_name_width = 120;

/// Rounded up: words that are given a pixel too little are cut.
int width_of(const QString& text) {
    return text.isEmpty() ? 0 : tabular_width(QFontMetrics(Theme::instance().font(TextSize::normal)), text) + 1;
}

Role tint_of(RunState state) {
    switch (state_role(state)) {
    case Role::attention:
        return Role::attention_tint;
    case Role::fault:
        return Role::fault_tint;
    case Role::accent:
        return Role::accent_tint;
    default:
        return Role::inner_border;
    }
}

} // namespace

ProgressHeader::ProgressHeader(QWidget* parent) : QWidget(parent), actions_(new QHBoxLayout(this)) {
    setFixedHeight(32);
    actions_->setContentsMargins(0, 0, 0, 0);
    actions_->setSpacing(8);
    actions_->addStretch(1);
}

void ProgressHeader::add_action(QWidget* control) { actions_->addWidget(control); }

void ProgressHeader::set_name(const QString& name, const QString& kind) {
    if (name == name_ && kind == kind_)
        return;
    if (name != name_)
        where_width_ = left_width_ = 0;
    name_ = name;
    kind_ = kind;
    describe();
}

void ProgressHeader::set_state(RunState state, const QString& word) {
    const QString shown = word.isEmpty() ? state_title(state) : word;
    if (state == state_ && shown == word_)
        return;
    state_ = state;
    word_ = shown;
    describe();
}

void ProgressHeader::set_progress(const QString& where, double share, const QString& left) {
    const double seen = std::round(share * bar_width * 2); // half pixels of the bar
    if (where == where_ && left == left_ && seen == std::round(share_ * bar_width * 2))
        return;
    where_ = where;
    share_ = share;
    left_ = left;
    describe();
}

QString ProgressHeader::text() const {
    QStringList parts{name_, kind_, word_, where_, left_};
    parts.removeAll(QString());
    return parts.join(QStringLiteral(", "));
}

void ProgressHeader::describe() {
    if (const QString description = text(); description != accessibleName())
        setAccessibleName(description);
    update();
}

/// Of all that stands behind the names, with the bar as short as it goes.
int ProgressHeader::width_behind_names() const {
    const auto& theme = Theme::instance();
    int width = QFontMetrics(theme.font(TextSize::small, QFont::DemiBold)).horizontalAdvance(word_) + 16;
    if (!where_.isEmpty())
        width += header_gap + std::max(where_width_, width_of(where_));
    if (share_ >= 0)
        width += header_gap + least_bar_width;
    if (!left_.isEmpty())
        width += header_gap + std::max(left_width_, width_of(left_));
    return width;
}

void ProgressHeader::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Qt::Alignment middle = Qt::AlignLeft | Qt::AlignVCenter;
    int room = width();
    for (int i = 0; i < actions_->count(); ++i)
        if (QWidget* control = actions_->itemAt(i)->widget(); control && control->isVisible())
            room = std::min(room, control->x() - 12);
    int x = 0, end = room;
    const auto words = [&](const QString& text, const QFont& font, Role role, int fixed = 0) {
        if (text.isEmpty() || x >= end)
            return;
        painter.setFont(font);
        painter.setPen(theme.color(role));
        const QString shown = painter.fontMetrics().elidedText(text, Qt::ElideRight, end - x);
        draw_tabular(painter, QRect(x, 0, end - x, height()), middle, shown);
        x += std::max(tabular_width(painter.fontMetrics(), shown), fixed) + header_gap;
    };
    // How the run stands is said whole: a long name gives way to it, and what is trained before that.
    end = std::max(least_name_width, room - width_behind_names() - header_gap);
    words(name_, theme.font(TextSize::title, QFont::DemiBold), Role::text);
    if (const QFont font = theme.font(TextSize::normal); x + QFontMetrics(font).horizontalAdvance(kind_) <= end)
        words(kind_, font, Role::secondary);
    end = room;

    painter.setFont(theme.font(TextSize::small, QFont::DemiBold));
    const int word = painter.fontMetrics().horizontalAdvance(word_);
    if (x + word + 16 <= room) {
        const QRectF pill(x, (height() - 20) / 2.0, word + 16, 20);
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.color(tint_of(state_)));
        painter.drawRoundedRect(pill, 8, 8);
        painter.setPen(theme.color(state_role(state_)));
        painter.drawText(pill, Qt::AlignCenter, word_);
        x += word + 16 + header_gap;
    }
    if (share_ >= 0)
        where_width_ = std::max(where_width_, width_of(where_));
    words(where_, theme.font(TextSize::normal), Role::secondary, where_width_);
    // What is left is said whole: the bar gives way to it.
    left_width_ = std::max(left_width_, width_of(left_));
    const int bar_room = std::min(bar_width, room - x - header_gap - left_width_);
    if (share_ >= 0 && bar_room >= least_bar_width) {
        const QRectF bar(x, (height() - 6) / 2.0, bar_room, 6);
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.color(Role::border));
        painter.drawRoundedRect(bar, 3, 3);
        if (share_ > 0) {
            painter.setBrush(theme.color(state_ == RunState::running ? Role::accent : state_role(state_)));
            painter.drawRoundedRect(QRectF(bar.left(), bar.top(), std::max(6.0, bar_room * std::min(share_, 1.0)), 6),
                                    3, 3);
        }
        x += bar_room + header_gap;
    }
    words(left_, theme.font(TextSize::normal), Role::secondary);
}

} // namespace espalier
