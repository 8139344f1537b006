// SPDX-License-Identifier: GPL-3.0-or-later
#include "metric_tile.h"

#include "help_on_focus.h"
#include "tabular.h"

#include <QPainter>

namespace espalier {

namespace {
constexpr int inset = 13;
}

MetricTile::MetricTile(const QString& label, QWidget* parent)
    : QFrame(parent), label_(label), value_(QStringLiteral("–")) {
    setProperty("card", true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    new HelpOnFocus(this);
    describe();
}

void MetricTile::set_label(const QString& label) {
    if (label == label_)
        return;
    label_ = label;
    describe();
}

void MetricTile::set_value(const QString& value, Trend trend) {
    if (value == value_ && trend == trend_)
        return;
    value_ = value;
    trend_ = trend;
    describe();
}

void MetricTile::set_context(const QString& context, Role role) {
    if (context == context_ && role == context_role_)
        return;
    context_ = context;
    context_role_ = role;
    describe();
}

void MetricTile::describe() {
    QStringList words{value_};
    if (trend_ != Trend::none)
        words.append(trend_ == Trend::falling_is_good || trend_ == Trend::falling_is_bad ? tr("falling")
                                                                                         : tr("rising"));
    if (!context_.isEmpty())
        words.append(context_);
    setAccessibleName(label_);
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    update();
}

void MetricTile::paintEvent(QPaintEvent* event) {
    QFrame::paintEvent(event);
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRect inner = rect().adjusted(inset, 0, -inset, 0);
    const int left = Qt::AlignLeft | Qt::AlignVCenter;

    painter.setFont(theme.font(TextSize::small));
    painter.setPen(theme.color(Role::secondary));
    painter.drawText(QRect(inner.left(), 9, inner.width(), 16), left,
                     painter.fontMetrics().elidedText(label_, Qt::ElideRight, inner.width()));

    // a value too wide for its tile is set smaller rather than cut
    painter.setFont(theme.font(TextSize::value, QFont::DemiBold));
    const int triangle = trend_ == Trend::none ? 0 : 16;
    if (tabular_width(painter.fontMetrics(), value_) + triangle > inner.width())
        painter.setFont(theme.font(TextSize::heading, QFont::DemiBold));
    painter.setPen(theme.color(Role::text));
    const QRect line(inner.left(), 24, inner.width(), 28);
    draw_tabular(painter, line, Qt::AlignLeft | Qt::AlignVCenter, value_);
    if (trend_ != Trend::none) {
        const bool falling = trend_ == Trend::falling_is_good || trend_ == Trend::falling_is_bad;
        const bool good = trend_ == Trend::falling_is_good || trend_ == Trend::rising_is_good;
        const double x = inner.left() + tabular_width(painter.fontMetrics(), value_) + 8;
        const double y = line.center().y() + 3;
        const double tip = falling ? 4 : -4;
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.color(good ? Role::good : Role::attention));
        painter.drawPolygon(QPolygonF{{x, y - tip}, {x + 8, y - tip}, {x + 4, y + tip}});
    }

    painter.setFont(theme.font(TextSize::small));
    painter.setPen(theme.color(context_role_));
    const QString context =
        painter.fontMetrics().elidedText(context_, Qt::ElideMiddle, inner.width()); // a number stands at an end;
    draw_tabular(painter, QRect(inner.left(), 52, inner.width(), 16), Qt::AlignLeft | Qt::AlignVCenter, context);
}

} // namespace espalier
