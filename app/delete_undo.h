// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_store.h"
#include "state_band.h"

#include <QTimer>

namespace espalier {

/// The band "Deleted NAME · Undo". It is there for some seconds; the run itself stays longer in the machine's trash.
class DeleteUndo : public StateBand {
    Q_OBJECT

public:
    explicit DeleteUndo(RunStore* store, QWidget* parent = nullptr);

private:
    void offer(const QString& name, const QString& trash);

    RunStore* store_;
    QTimer over_;
};

} // namespace espalier
