// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_actions.h"
#include "run_rail.h"

class QMenu;

namespace espalier {

/// What can be done to a run of the rail: its context menu, and what the rail itself asks for (rename, delete, the
/// order of the queue).
class RunMenu : public QObject {
    Q_OBJECT

public:
    RunMenu(RunRail* rail, RunStore* store, RunActions* actions, QWidget* window);

private:
    void show(const QString& path, const QPoint& global);
    void add_queued(QMenu* menu, const QString& path);
    void add_training(QMenu* menu, const RunEntry& run);
    void add_common(QMenu* menu, const RunEntry& run);
    void edit_tags(const QString& path);

    RunRail* rail_;
    RunStore* store_;
    RunActions* actions_;
    QWidget* window_;
};

} // namespace espalier
