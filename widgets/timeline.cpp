// SPDX-License-Identifier: GPL-3.0-or-later
#include "timeline.h"

#include "color.h"
#include "format.h"
#include "tabular.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

QString story_of(const TimelinePhase& phase) {
    return Timeline::tr("%1: steps %2 to %3").arg(phase.name, format_count(phase.begin + 1), format_count(phase.end));
}

} // namespace

Timeline::Timeline(QWidget* parent) : QFrame(parent) {
    setProperty("card", true);
    setFixedHeight(40);
    setAccessibleName(tr("Timeline"));
    setFocusPolicy(Qt::TabFocus);
}

void Timeline::set_content(const std::vector<TimelinePhase>& phases, const std::vector<PlotMarker>& markers) {
    const auto same = [](const PlotMarker& a, const PlotMarker& b) { return a.position == b.position; };
    const bool same_markers = std::ranges::equal(markers, markers_, same);
    if (same_markers && phases == phases_)
        return; // this is asked at every tick
    phases_ = phases;
    if (!same_markers)
        markers_ = markers;
    update();
}

void Timeline::set_view(const StepClock* clock, AxisKind kind, const std::pair<double, double>& range) {
    clock_ = clock;
    kind_ = kind;
    range_ = range;
    update();
}

void Timeline::set_story(const QString& story) {
    if (story == story_)
        return;
    story_ = story;
    setAccessibleDescription(story);
    update();
}

QRectF Timeline::bar() const {
    const int title = QFontMetrics(Theme::instance().font(TextSize::small)).horizontalAdvance(tr("Timeline")) + 12 + 24;
    return {static_cast<double>(title), (height() - 14) / 2.0, std::max(80.0, width() * 0.54), 14};
}

double Timeline::column(double step) const {
    const auto [low, high] = range_;
    const QRectF room = bar();
    const double position = clock_ ? clock_->to_axis(kind_, step) : step;
    return room.left() + room.width() * (high > low ? (position - low) / (high - low) : 0);
}

bool Timeline::is_in_view(const PlotMarker& marker) const {
    const double at = column(marker.position);
    return at >= bar().left() && at <= bar().right();
}

void Timeline::paintEvent(QPaintEvent* event) {
    QFrame::paintEvent(event);
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme.font(TextSize::small));
    painter.setPen(theme.color(Role::secondary));
    painter.drawText(QRect(13, 0, 200, height()), Qt::AlignLeft | Qt::AlignVCenter, tr("Timeline"));
    const QRectF room = bar();
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.color(Role::inner_border));
    painter.drawRoundedRect(room, 3, 3);
    for (const TimelinePhase& phase : phases_) {
        const double left = std::max(room.left(), column(phase.begin));
        const double right = std::min(room.right(), column(phase.end));
        if (right < room.left() || left > room.right())
            continue;
        const QRectF part(left, room.top(), std::max(1.0, right - left), room.height());
        const auto [color, ink] = legible(mixed(theme.color(phase.role), theme.color(Role::inner_border), 0.82));
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        painter.drawRoundedRect(part, 3, 3);
        const double words_end = part.left() + painter.fontMetrics().horizontalAdvance(phase.name) + 16;
        const bool crossed = std::any_of(markers_.begin(), markers_.end(), [&](const PlotMarker& marker) {
            return column(marker.position) > part.left() + 4 && column(marker.position) < words_end;
        });
        if (!phase.name.isEmpty() && words_end < part.right() && !crossed) {
            painter.setPen(ink);
            painter.drawText(part.adjusted(8, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, phase.name);
        }
    }
    double drawn = -1;
    for (const PlotMarker& marker : markers_) {
        const double at = column(marker.position);
        if (!is_in_view(marker) || std::abs(at - drawn) < 1) // those of a long run stand in the same column
            continue;
        drawn = at;
        painter.setPen(QPen(theme.color(marker.role), 2));
        painter.drawLine(QPointF(at, room.top() - 3), QPointF(at, room.bottom() + 3));
    }
    if (const auto all = stops(); hasFocus() && stop_ && *stop_ < all.size()) {
        painter.setPen(QPen(theme.color(Role::text), 2));
        painter.drawLine(QPointF(all[*stop_].at, room.top() - 8), QPointF(all[*stop_].at, room.bottom() + 8));
    }
    painter.setPen(theme.color(Role::secondary));
    const QRect words(static_cast<int>(room.right()) + 24, 0, width() - 13 - static_cast<int>(room.right()) - 24,
                      height());
    draw_tabular(painter, words, Qt::AlignRight | Qt::AlignVCenter,
                 painter.fontMetrics().elidedText(story_, Qt::ElideRight, words.width()));
}

std::vector<Timeline::Stop> Timeline::stops() const {
    std::vector<Stop> all;
    const QRectF room = bar();
    for (const TimelinePhase& phase : phases_)
        if (column(phase.end) >= room.left() && column(phase.begin) <= room.right())
            all.push_back({std::max(room.left(), column(phase.begin)), story_of(phase)});
    for (const PlotMarker& marker : markers_)
        if (is_in_view(marker))
            all.push_back({column(marker.position), marker.story});
    std::ranges::stable_sort(all, {}, &Stop::at);
    return all;
}

void Timeline::keyPressEvent(QKeyEvent* event) {
    const bool left = event->key() == Qt::Key_Left, right = event->key() == Qt::Key_Right;
    const auto all = stops();
    if ((!left && !right) || event->modifiers() != Qt::NoModifier || all.empty())
        return QFrame::keyPressEvent(event);
    if (!stop_)
        stop_ = left ? all.size() - 1 : 0;
    else if (left)
        stop_ = *stop_ > 0 ? std::min(*stop_, all.size()) - 1 : 0;
    else
        stop_ = std::min(*stop_ + 1, all.size() - 1);
    const Stop& stop = all[*stop_];
    setAccessibleDescription(stop.story);
    QToolTip::showText(mapToGlobal(QPoint(static_cast<int>(stop.at), height())), stop.story, this);
    update();
}

void Timeline::focusOutEvent(QFocusEvent* event) {
    stop_.reset();
    setAccessibleDescription(story_);
    QToolTip::hideText();
    QFrame::focusOutEvent(event);
}

bool Timeline::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip)
        return QFrame::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    double best = 6;
    QString story;
    for (const PlotMarker& marker : markers_)
        if (const double away = std::abs(column(marker.position) - help->x()); is_in_view(marker) && away < best) {
            best = away;
            story = marker.story;
        }
    for (const TimelinePhase& phase : phases_)
        if (story.isEmpty() && bar().contains(help->pos()) && help->x() >= column(phase.begin) &&
            help->x() <= column(phase.end))
            story = story_of(phase);
    if (story.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(), story, this);
    return true;
}

} // namespace espalier
