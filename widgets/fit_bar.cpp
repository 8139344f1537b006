// SPDX-License-Identifier: GPL-3.0-or-later
#include "fit_bar.h"

#include "format.h"
#include "help_on_focus.h"
#include "tabular.h"

#include <QPainter>
#include <QPainterPath>

namespace espalier {

FitBar::FitBar(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    new HelpOnFocus(this);
}

void FitBar::set_parts(std::vector<Part> parts, double limit) {
    parts_ = std::move(parts);
    limit_ = limit;
    describe_parts();
    update();
}

void FitBar::set_help(const QString& text) {
    help_ = text;
    describe_parts();
}

void FitBar::describe_parts() {
    QStringList lines = more_;
    if (!help_.isEmpty())
        lines.append(help_);
    for (const Part& part : parts_)
        lines.append(QStringLiteral("%1: %2").arg(part.name, format_bytes(part.bytes)));
    setToolTip(lines.join(QLatin1Char('\n')));
}

void FitBar::set_words(const QString& verdict, const QStringList& more, Role role) {
    verdict_ = verdict;
    more_ = more;
    role_ = role;
    setAccessibleName(verdict);
    setAccessibleDescription(more.join(QStringLiteral(" · ")));
    describe_parts();
    update();
}

void FitBar::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRect line(0, 0, width(), 20);
    painter.setFont(theme.font(TextSize::normal, QFont::DemiBold));
    painter.setPen(theme.color(role_));
    draw_tabular(painter, line, Qt::AlignLeft | Qt::AlignVCenter,
                 painter.fontMetrics().elidedText(verdict_, Qt::ElideRight, width()));
    const int left = tabular_width(painter.fontMetrics(), verdict_) + 12;
    painter.setFont(theme.font(TextSize::small));
    painter.setPen(theme.color(Role::secondary));
    if (left < width())
        draw_tabular(painter, line.adjusted(left, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     whole_parts(more_, painter.fontMetrics(), width() - left));

    const QRectF bar(0, 26, width(), 9);
    QPainterPath shape;
    shape.addRoundedRect(bar, 4.5, 4.5);
    painter.setClipPath(shape);
    painter.fillRect(bar, theme.color(Role::border));
    double total = 0;
    for (const Part& part : parts_)
        total += part.bytes;
    const double full = std::max(limit_, total);
    double x = bar.left();
    for (const Part& part : parts_) {
        const double wide = full > 0 ? bar.width() * part.bytes / full : 0;
        painter.fillRect(QRectF(x, bar.top(), wide, bar.height()), theme.color(part.role));
        x += wide;
    }
    if (hasFocus()) {
        painter.setPen(QPen(theme.color(Role::accent), 2));
        painter.drawPath(shape);
    }
}

} // namespace espalier
