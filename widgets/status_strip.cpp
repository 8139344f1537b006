// SPDX-License-Identifier: GPL-3.0-or-later
#include "status_strip.h"

#include "tabular.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QStyle>
#include <QStyleOption>
#include <QToolTip>

namespace espalier {

namespace {
constexpr int inset = 16;
constexpr int gap = 24;

QString words_of(const StatusStrip::Fact& fact) { return fact.before + fact.strong + fact.faint; }

} // namespace

StatusStrip::StatusStrip(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("statusStrip"));
    setAttribute(Qt::WA_StyledBackground);
    setFixedHeight(28);
    setAccessibleName(tr("Status"));
}

int StatusStrip::width_of(const Fact& fact) const {
    const QFontMetrics metrics(Theme::instance().font(TextSize::small));
    return tabular_width(metrics, fact.before) + tabular_width(metrics, fact.strong) +
           tabular_width(metrics, fact.faint);
}

void StatusStrip::set_facts(std::vector<Fact> facts) {
    if (facts == facts_)
        return;
    if (facts.size() != facts_.size())
        widths_.clear();
    facts_ = std::move(facts);
    widths_.resize(facts_.size());
    for (std::size_t i = 0; i < facts_.size(); ++i)
        widths_[i] = std::max(widths_[i], width_of(facts_[i]));
    setFocusPolicy(with_help(0, 1) ? Qt::TabFocus : Qt::NoFocus);
    if (current_ >= facts_.size() || facts_[current_].help.isEmpty())
        current_ = with_help(0, 1).value_or(0);
    describe();
    update();
}

/// All facts; while one is walked to, that one and its help.
void StatusStrip::describe() {
    const QString description = hasFocus() && current_ < facts_.size()
                                    ? QStringLiteral("%1: %2").arg(words_of(facts_[current_]), facts_[current_].help)
                                    : text();
    if (description != accessibleDescription())
        setAccessibleDescription(description);
}

QRect StatusStrip::place_of(std::size_t index) const {
    int x = inset;
    for (std::size_t i = 0; i < index; ++i)
        x += widths_[i] + gap;
    return {x, 0, widths_[index], height()};
}

std::optional<std::size_t> StatusStrip::with_help(std::ptrdiff_t index, int by) const {
    for (; index >= 0 && index < std::ssize(facts_); index += by)
        if (const auto at = static_cast<std::size_t>(index); !facts_[at].help.isEmpty())
            return at;
    return std::nullopt;
}

void StatusStrip::go_to(std::optional<std::size_t> index) {
    if (!index)
        return;
    current_ = *index;
    describe();
    update();
    QToolTip::showText(mapToGlobal(place_of(current_).topLeft()), facts_[current_].help, this);
}

void StatusStrip::keyPressEvent(QKeyEvent* event) {
    const auto at = static_cast<std::ptrdiff_t>(current_);
    if (event->key() == Qt::Key_Right)
        go_to(with_help(at + 1, 1));
    else if (event->key() == Qt::Key_Left)
        go_to(with_help(at - 1, -1));
    else
        QWidget::keyPressEvent(event);
}

void StatusStrip::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    const auto show = [this] {
        if (hasFocus())
            go_to(with_help(static_cast<std::ptrdiff_t>(current_), 1));
    };
    QMetaObject::invokeMethod(this, show, Qt::QueuedConnection); // what follows a change of the focus hides tooltips
}

void StatusStrip::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    QToolTip::hideText();
    describe();
}

QString StatusStrip::text() const {
    QStringList parts;
    for (const Fact& fact : facts_)
        parts.append(words_of(fact));
    return parts.join(QStringLiteral(", "));
}

void StatusStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    QStyleOption option;
    option.initFrom(this);
    style()->drawPrimitive(QStyle::PE_Widget, &option, &painter, this);
    const Theme& theme = Theme::instance();
    painter.setFont(theme.font(TextSize::small));
    int x = inset;
    for (std::size_t i = 0; i < facts_.size() && x < width() - inset; ++i) {
        int at = x;
        const auto part = [&](const QString& text, Role role) {
            painter.setPen(theme.color(role));
            draw_tabular(painter, QRect(at, 1, width() - at - 4, height() - 1), Qt::AlignLeft | Qt::AlignVCenter, text);
            at += tabular_width(painter.fontMetrics(), text);
        };
        part(facts_[i].before, Role::secondary);
        part(facts_[i].strong, facts_[i].role);
        part(facts_[i].faint, Role::secondary);
        x += widths_[i] + gap;
    }
    if (hasFocus() && current_ < facts_.size()) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(theme.color(Role::accent));
        painter.drawRoundedRect(QRectF(place_of(current_)).adjusted(-5.5, 4.5, 5.5, -4.5), 4, 4);
    }
}

bool StatusStrip::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    for (std::size_t i = 0; i < facts_.size(); ++i)
        if (place_of(i).contains(help->pos()) && !facts_[i].help.isEmpty()) {
            QToolTip::showText(help->globalPos(), facts_[i].help, this);
            return true;
        }
    QToolTip::hideText();
    return true;
}

} // namespace espalier
