// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "graph/graph.h"
#include "plan/session.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace espalier {

/// One row of the layer table: all ops of a step that a layer's path names, forward and backward together.
struct LayerRow {
    std::string layer;
    std::string kind;   ///< of its first op
    std::string shape;  ///< of what its last forward op gives: "64x16x14x14"
    std::string kernel; ///< of the op that took longest; before a profile of the first
    std::int64_t parameters = 0;
    double flops = 0;
    double bytes = 0;
    std::size_t memory = 0; ///< bytes of its tensors in the arena
    double forward_milliseconds = 0;
    double backward_milliseconds = 0; ///< and of its update; both of the last profiled run
    [[nodiscard]] double milliseconds() const { return forward_milliseconds + backward_milliseconds; }
};

/// Rows in the order in which layers first run.
[[nodiscard]] std::vector<LayerRow> layer_table(const Graph& graph, std::span<const PlannedOp> ops);

/// The rows as the `plan` event has them, and as the `layers` event has them (docs/PROTOCOL.md).
[[nodiscard]] Json plan_rows(std::span<const LayerRow> rows);
[[nodiscard]] Json profile_rows(std::span<const LayerRow> rows);
[[nodiscard]] Json to_json(const MemoryUse& memory);

} // namespace espalier
