// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_state.h"

#include <QString>
#include <optional>

namespace espalier {

/// How a run has ended.
struct RunEnd {
    QString name;
    RunState state = RunState::interrupted;
    std::optional<double> best_accuracy; ///< 0 to 1
    QString reason;                      ///< empty: none was told
};

} // namespace espalier
