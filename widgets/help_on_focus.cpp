// SPDX-License-Identifier: GPL-3.0-or-later
#include "help_on_focus.h"

#include <QEvent>
#include <QToolTip>
#include <QWidget>

namespace espalier {

HelpOnFocus::HelpOnFocus(QWidget* widget) : QObject(widget), widget_(widget) { widget->installEventFilter(this); }

bool HelpOnFocus::eventFilter(QObject*, QEvent* event) {
    const auto show = [this] {
        if (widget_->hasFocus())
            QToolTip::showText(widget_->mapToGlobal(widget_->rect().bottomLeft()), widget_->toolTip(), widget_);
    };
    switch (event->type()) {
    case QEvent::ToolTipChange:
        if (widget_->whatsThis() == widget_->toolTip())
            break;
        widget_->setWhatsThis(widget_->toolTip());
        widget_->setFocusPolicy(widget_->toolTip().isEmpty() ? Qt::NoFocus : Qt::TabFocus);
        if (QToolTip::isVisible())
            show(); // as it is now
        break;
    case QEvent::FocusIn:
        QMetaObject::invokeMethod(this, show,
                                  Qt::QueuedConnection); // what follows a change of the focus hides tooltips
        break;
    case QEvent::FocusOut:
        QToolTip::hideText();
        break;
    default:
        break;
    }
    return false;
}

} // namespace espalier
