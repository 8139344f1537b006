// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace espalier {

/// Brings the tooltip of a widget that nothing is done with to those who use no mouse: while it has one, Tab stops
/// there and shows it, and screen readers have it as its help. The widget shows that it has the focus.
class HelpOnFocus : public QObject {
    Q_OBJECT

public:
    explicit HelpOnFocus(QWidget* widget);

    [[nodiscard]] bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* widget_;
};

} // namespace espalier
