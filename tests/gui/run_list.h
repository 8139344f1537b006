// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "window_driver.h"

#include <QListWidget>

/// What a person does with the list of runs at the left of the window.
namespace espalier::test {

inline QListWidget* run_list(WindowDriver& driver) { return driver.find<QListWidget>(QStringLiteral("runList")); }

inline bool wait_for_runs(WindowDriver& driver, int count, int patience_ms = 5000) {
    return QTest::qWaitFor([&] { return run_list(driver)->count() == count; }, patience_ms);
}

inline QPoint place_of_run(WindowDriver& driver, int row) {
    const auto* list = run_list(driver);
    return list->visualItemRect(list->item(row)).center();
}

inline void click_run(WindowDriver& driver, int row, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mouseClick(run_list(driver)->viewport(), Qt::LeftButton, modifiers, place_of_run(driver, row));
}

/// Opens the stand-in's finished run of before, all of its 756 steps.
inline bool open_finished(WindowDriver& driver) {
    if (!wait_for_runs(driver, 2))
        return false;
    click_run(driver, 0);
    return driver.wait_for_state(RunState::finished);
}

} // namespace espalier::test
