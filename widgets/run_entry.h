// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_state.h"

#include <QStringList>

namespace espalier {

/// A run as the rail shows it.
struct RunEntry {
    QString id; ///< its path on the machine
    QString name;
    QString detail; ///< "Running · 12/30"
    RunState state = RunState::interrupted;
    QString preset;
    QStringList tags;
    QString notes;
    int place = 0; ///< in the queue, from 1; 0: it does not wait
    bool resumable = true; ///< it has a checkpoint, or nothing is known of it

    bool operator==(const RunEntry&) const = default;
};

} // namespace espalier
