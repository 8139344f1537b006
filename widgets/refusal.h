// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QWidget>
#include <functional>

namespace espalier {

/// What stands against an action of the protocol or the window ("pause", "export"), in a sentence; empty: nothing.
using WhyNot = std::function<QString(const QString& action)>;

/// Greys a control out and says why, where the mouse rests and to screen readers. No reason: it can be used, and `help`
/// stands there.
inline void set_refusal(QWidget* control, const QString& reason, const QString& help = {}) {
    const QString& said = reason.isEmpty() ? help : reason;
    control->setEnabled(reason.isEmpty());
    if (control->toolTip() != said) // an event each time
        control->setToolTip(said);
    control->setAccessibleDescription(said);
}

/// The same of an entry of a menu that shows tooltips.
inline void set_refusal(QAction* action, const QString& reason) {
    action->setEnabled(reason.isEmpty());
    action->setToolTip(reason);
}

} // namespace espalier
