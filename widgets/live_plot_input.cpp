// SPDX-License-Identifier: GPL-3.0-or-later
// What the mouse and the keys ask of a plot.
#include "live_plot.h"

#include <QHelpEvent>
#include <QMenu>
#include <QToolTip>
#include <cmath>

namespace espalier {

namespace {
constexpr double zoom_step = 0.8;    ///< of the visible range for one notch of the wheel
constexpr double click_distance = 3; ///< pixels that the mouse may move between press and release
} // namespace

void LivePlot::zoom(double factor, double anchor) {
    const QCPRange range = plot_->xAxis->range();
    emit range_requested(anchor - (anchor - range.lower) * factor, anchor + (range.upper - anchor) * factor);
}

void LivePlot::keyPressEvent(QKeyEvent* event) {
    const QCPRange range = plot_->xAxis->range();
    const double shift = range.size() * (1 - zoom_step);
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
    default:
        QFrame::keyPressEvent(event);
    }
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
