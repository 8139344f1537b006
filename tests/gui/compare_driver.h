// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "compare_page.h"
#include "plot_group.h"
#include "run_list.h"

#include <QAction>
#include <QMenu>
#include <QPushButton>
#include <QTableWidget>
#include <set>

/// What the tests of comparisons do with the window.
namespace espalier::test {

inline ComparePage* page(WindowDriver& driver) { return driver.window->compare_page(); }

inline bool wait_for_curves(WindowDriver& driver) {
    return QTest::qWaitFor([&] {
        const ComparedRuns& runs = page(driver)->runs();
        std::set<int> drawn;
        for (const Curve& curve : page(driver)->plots()->loss()->curves())
            drawn.insert(curve.tag);
        if (drawn.size() < runs.size())
            return false;
        for (std::size_t i = 0; i < runs.size(); ++i)
            if (!runs.curves(i) || !runs.config(i))
                return false;
        return runs.size() > 0;
    });
}

inline QString cell(WindowDriver& driver, const QString& title, int column) {
    const auto* table = driver.find<QTableWidget>(QStringLiteral("compareTable"));
    for (int row = 0; row < table->rowCount(); ++row)
        if (const auto* head = table->item(row, 0); head && head->text() == title)
            return table->item(row, column) ? table->item(row, column)->text() : QString();
    return QStringLiteral("no row");
}

inline std::vector<Curve> shown(WindowDriver& driver) { return page(driver)->plots()->loss()->curves(); }

inline void choose_smoothing(WindowDriver& driver, const char* text) {
    const auto* smooth = page(driver)->findChild<QPushButton*>(QStringLiteral("plotSmooth"));
    for (QAction* action : smooth->menu()->actions())
        if (action->text() == QLatin1String(text))
            action->trigger();
}

} // namespace espalier::test
