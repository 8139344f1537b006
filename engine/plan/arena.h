// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/program.h"

#include <cstddef>
#include <vector>

namespace espalier {

/// Where everything of a program lies in its arena.
struct Arena {
    std::vector<std::size_t> values;     ///< offset of each value that is not persistent
    std::vector<std::size_t> workspaces; ///< offset of each step's workspace
    std::size_t bytes = 0;               ///< size: the exact peak
    std::size_t activation_bytes = 0;    ///< the part that activations reach; beyond it lie workspaces alone
    std::size_t live_peak = 0;           ///< most bytes in use at once: no arena can be smaller
    std::size_t busiest_step = 0;        ///< the step at which that is
};

/// Lays out the arena: lifetimes from the order of the steps, outputs in place of inputs where lowering allows it, a
/// workspace as memory that lives for one step. For `rest` further steps memory is not used again, so that these steps
/// need not wait for its last reader.
[[nodiscard]] Arena plan_arena(const Program& program, int rest = 0);

} // namespace espalier
