// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "live_plot.h"
#include "run_list.h"

#include <qcustomplot.h>

#include <QMenu>
#include <QPushButton>
#include <QTimer>

/// What the tests of plots do with them.
namespace espalier::test {

inline QCustomPlot* canvas(LivePlot* plot) { return plot->findChild<QCustomPlot*>(); }

inline QPoint middle(LivePlot* plot) { return canvas(plot)->axisRect()->rect().center(); }

/// Opens the menu of a button by a click and takes the entry with that text.
inline bool choose(QPushButton* button, const QString& text) {
    QMenu* menu = button->menu();
    bool taken = false;
    QTimer::singleShot(0, menu, [&] {
        for (QAction* action : menu->actions())
            if (action->text() == text) {
                QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
                taken = true;
            }
        menu->close();
    });
    QTest::mouseClick(button, Qt::LeftButton);
    return taken;
}

} // namespace espalier::test
