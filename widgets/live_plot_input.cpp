// SPDX-License-Identifier: GPL-3.0-or-later
// What the mouse and the keys ask of a plot.
#include "live_plot.h"

#include <QHelpEvent>
#include <QMenu>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace espalier {

namespace {
constexpr double zoom_step = 0.8;       ///< of the visible range for one notch of the wheel
constexpr double crosshair_step = 0.01; ///< of the visible range for one key
constexpr double click_distance = 3;    ///< pixels that the mouse may move between press and release
} // namespace

void LivePlot::zoom(double factor, double anchor) {
    const QCPRange range = plot_->xAxis->range();
    emit range_requested(anchor - (anchor - range.lower) * factor, anchor + (range.upper - anchor) * factor);
}

void LivePlot::keyPressEvent(QKeyEvent* event) {
    const QCPRange range = plot_->xAxis->range();
    const double shift = range.size() * (1 - zoom_step);
    const bool left = event->key() == Qt::Key_Left, right = event->key() == Qt::Key_Right;
    if ((left || right) && event->modifiers() & Qt::ShiftModifier)
        return move_crosshair((right ? 1 : -1) * range.size() * crosshair_step);
    if ((left || right) && event->modifiers() & Qt::ControlModifier)
        return go_to_marker(right);
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoom(zoom_step, range.center());
        break;
    case Qt::Key_Minus:
        zoom(1 / zoom_step, range.center());
        break;
    case Qt::Key_Left:
        emit range_requested(range.lower - shift, range.upper - shift);
        break;
    case Qt::Key_Right:
        emit range_requested(range.lower + shift, range.upper + shift);
        break;
    case Qt::Key_Home:
        emit fit_requested();
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (crosshair_->position)
            open_story(pixel_of_crosshair());
        break;
    case Qt::Key_Escape:
        if (!crosshair_->position)
            return QFrame::keyPressEvent(event);
        emit crosshair_moved(std::nullopt);
        break;
    default:
        QFrame::keyPressEvent(event);
    }
}

QPointF LivePlot::pixel_of_crosshair() const {
    return {plot_->xAxis->coordToPixel(*crosshair_->position), static_cast<double>(plot_->axisRect()->center().y())};
}

/// From the middle, if there is none.
void LivePlot::move_crosshair(double by) {
    const QCPRange range = plot_->xAxis->range();
    const double at = crosshair_->position ? *crosshair_->position + by : range.center();
    emit crosshair_moved(std::clamp(at, range.lower, range.upper));
}

/// To the next marker in sight, whose story is told.
void LivePlot::go_to_marker(bool forward) {
    const QCPRange range = plot_->xAxis->range();
    const double from = crosshair_->position.value_or(forward ? range.lower : range.upper);
    const double least = range.size() * 1e-6; // of another place
    std::optional<double> next;
    for (const double at : overlay_->marker_positions)
        if (range.contains(at) && (forward ? at > from + least : at < from - least) &&
            (!next || std::abs(at - from) < std::abs(*next - from)))
            next = at;
    if (!next)
        return;
    emit crosshair_moved(*next);
    const QPointF here = pixel_of_crosshair();
    if (const PlotMarker* marker = overlay_->marker_at(here))
        QToolTip::showText(plot_->mapToGlobal(here.toPoint()), marker->story, plot_);
}

/// What can be done about the marker at a place, if anything can.
void LivePlot::open_story(const QPointF& at) {
    const PlotMarker* marker = overlay_->marker_at(at);
    if (!marker || marker->action.isEmpty())
        return;
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("markerMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(marker->story)->setEnabled(false);
    connect(menu->addAction(tr("Take it back")), &QAction::triggered, this,
            [this, action = marker->action] { emit action_requested(action); });
    menu->popup(plot_->mapToGlobal(at.toPoint()));
}

void LivePlot::focusInEvent(QFocusEvent* event) {
    QFrame::focusInEvent(event);
    update();
}

void LivePlot::focusOutEvent(QFocusEvent* event) {
    QFrame::focusOutEvent(event);
    update();
}

bool LivePlot::eventFilter(QObject* watched, QEvent* event) {
    if (watched == plot_ && pointer_event(event))
        return true;
    return QFrame::eventFilter(watched, event);
}

bool LivePlot::pointer_event(QEvent* event) {
    const QCPAxis* x = plot_->xAxis;
    switch (event->type()) {
    case QEvent::Wheel: {
        const auto* wheel = static_cast<QWheelEvent*>(event);
        if (wheel->angleDelta().y() != 0)
            zoom(std::pow(zoom_step, wheel->angleDelta().y() / 120.0), x->pixelToCoord(wheel->position().x()));
        return true;
    }
    case QEvent::MouseButtonPress: {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        if (mouse->button() == Qt::LeftButton) {
            drag_ = x->pixelToCoord(mouse->position().x());
            pressed_ = mouse->position();
            setFocus(Qt::MouseFocusReason);
        }
        return true;
    }
    case QEvent::MouseMove: {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        const double at = x->pixelToCoord(mouse->position().x());
        if (drag_ && (mouse->buttons() & Qt::LeftButton) && at != *drag_) {
            plot_->setCursor(Qt::ClosedHandCursor);
            emit range_requested(x->range().lower + *drag_ - at, x->range().upper + *drag_ - at);
        }
        const bool inside = plot_->axisRect()->rect().contains(mouse->position().toPoint());
        emit crosshair_moved(inside ? std::optional(x->pixelToCoord(mouse->position().x())) : std::nullopt);
        return true;
    }
    case QEvent::MouseButtonRelease: {
        const QPointF at = static_cast<QMouseEvent*>(event)->position();
        plot_->unsetCursor();
        if (std::exchange(drag_, std::nullopt) && (at - pressed_).manhattanLength() <= click_distance)
            open_story(at);
        return true;
    }
    case QEvent::MouseButtonDblClick:
        emit fit_requested();
        return true;
    case QEvent::Leave:
        emit crosshair_moved(std::nullopt);
        return false;
    case QEvent::Resize: // what a column holds depends on the width
        QMetaObject::invokeMethod(
            this, [this] { refresh(); }, Qt::QueuedConnection);
        return false;
    case QEvent::ToolTip: {
        const auto* help = static_cast<QHelpEvent*>(event);
        const PlotMarker* marker = overlay_->marker_at(help->pos());
        if (!marker)
            QToolTip::hideText();
        else
            QToolTip::showText(help->globalPos(),
                               marker->action.isEmpty() ? marker->story
                                                        : tr("%1\nA click offers to take it back.").arg(marker->story),
                               plot_);
        return true;
    }
    default:
        return false;
    }
}

} // namespace espalier
