// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"
#include "plan/kernel.h"
#include "plan/layout.h"
#include "plan/session.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace espalier {

/// Index into Program::values.
using ValueId = std::int32_t;
inline constexpr ValueId no_value = -1;

/// A tensor in one layout: as it was made, or as a reorder copied it.
struct Value {
    enum class Place {
        arena,      ///< lives from the step that writes it to the last one that reads it
        input,      ///< in the arena too, during the whole run: the host writes it before
        persistent, ///< a parameter or buffer of the session
    };
    Tensor tensor;
    Layout layout;
    Place place = Place::arena;
    bool kept = false; ///< must still be there after the run
    /// Entry in the session's PersistentTensors, where place is persistent.
    std::size_t persistent = static_cast<std::size_t>(-1);
};

/// One kernel of the plan with the values that it reads and writes.
struct Step {
    std::unique_ptr<Kernel> kernel;
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
    std::size_t workspace = 0;
    std::vector<std::pair<std::size_t, std::size_t>> in_place; ///< as Lowered::in_place
};

/// A graph lowered for one backend: what runs in which order, not yet where anything lies.
struct Program {
    std::vector<Value> values;
    std::vector<Step> steps;
    std::vector<PlannedOp> ops; ///< one a step
    std::map<TensorId, ValueId> kept;
    std::map<std::string, ValueId> inputs;
    double model_flops = 0; ///< of forward and backward, recomputed ops not counted
};

} // namespace espalier
