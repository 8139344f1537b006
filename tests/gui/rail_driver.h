// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "queue_list.h"
#include "run_list.h"

#include <QMenu>
#include <QPushButton>

/// What a person does with the rail: the list of runs, their menus, and the queue.
namespace espalier::test {

/// Of the runs that the search leaves in the list.
inline QStringList names(WindowDriver& driver) {
    QStringList names;
    const auto* list = run_list(driver);
    for (int i = 0; i < list->count(); ++i)
        if (!list->item(i)->isHidden() && list->isVisible())
            names.append(list->item(i)->text());
    return names;
}

/// Opens the context menu at a place and clicks one of its actions. The rail tells where; only the click on the mouse's
/// other button is made by hand.
inline bool choose(WindowDriver& driver, QWidget* at, const QPoint& place, const char* action) {
    emit at->customContextMenuRequested(place);
    auto* menu = driver.find<QMenu>(QStringLiteral("runMenu"));
    if (!menu || !QTest::qWaitFor([&] { return menu->isVisible(); }))
        return false;
    auto* chosen = menu->findChild<QAction*>(QLatin1String(action));
    if (!chosen || !chosen->isEnabled())
        return false;
    QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(chosen).center());
    return QTest::qWaitFor([&] { return !driver.find<QMenu>(QStringLiteral("runMenu")); });
}

inline bool choose_for_run(WindowDriver& driver, int row, const char* action) {
    return choose(driver, run_list(driver), place_of_run(driver, row), action);
}

/// The words of the band on top of the pages, if it is shown.
inline QString message(WindowDriver& driver) {
    auto* band = driver.find(QStringLiteral("message"));
    return band->isVisible() ? band->accessibleName() : QString();
}

inline bool queue_one(WindowDriver& driver) {
    driver.key(Qt::Key_N, Qt::ControlModifier);
    return driver.click(QStringLiteral("preset-quick")) && driver.click(QStringLiteral("addToQueue")) &&
           QTest::qWaitFor([&] { return driver.find(QStringLiteral("message"))->isVisible(); }, 5000);
}

/// Names of the runs that wait, the next one first.
inline QStringList queue_of(WindowDriver& driver) {
    QStringList list;
    for (const auto* row : driver.find<QueueList>(QString())->findChildren<QPushButton*>())
        if (row->isVisible() && row->objectName().startsWith(QStringLiteral("queue-name-")))
            list.append(row->objectName().mid(11));
    return list;
}

} // namespace espalier::test
