// SPDX-License-Identifier: GPL-3.0-or-later
#include "status_strip.h"

#include "tabular.h"

#include <QHelpEvent>
#include <QPainter>
#include <QStyle>
#include <QStyleOption>
#include <QToolTip>

namespace espalier {

namespace {
constexpr int inset = 16;
constexpr int gap = 24;
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
    if (const QString description = text(); description != accessibleDescription())
        setAccessibleDescription(description);
    update();
}

QString StatusStrip::text() const {
    QStringList parts;
    for (const Fact& fact : facts_)
        parts.append(fact.before + fact.strong + fact.faint);
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
}

bool StatusStrip::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    int x = inset;
    for (std::size_t i = 0; i < facts_.size(); x += widths_[i] + gap, ++i)
        if (help->x() >= x && help->x() < x + widths_[i] && !facts_[i].help.isEmpty()) {
            QToolTip::showText(help->globalPos(), facts_[i].help, this);
            return true;
        }
    QToolTip::hideText();
    return true;
}

} // namespace espalier
