// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"
#include "passes/pipeline.h"
#include "train/run_config.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier {

/// Optimizer state and gradient sums are buffers of the step's graph, named by their parameter: "stem.weight#momentum".
[[nodiscard]] std::string slot_tensor_name(std::string_view parameter, std::string_view slot);
/// {parameter, slot} of such a name; the slot is empty for every other name.
[[nodiscard]] std::pair<std::string, std::string> parameter_and_slot(std::string_view tensor_name);
/// Slots that the optimizer keeps of each parameter, in the order in which its op takes them: sgd {"momentum"}, adam
/// and adamw {"exp_avg", "exp_avg_sq", "steps"}.
[[nodiscard]] std::vector<std::string> slots_of(const OptimizerConfig& config);
/// The sum of gradients of an accumulated step; lives within one step and is no part of a checkpoint.
inline constexpr std::string_view gradient_sum_slot = "sum";

/// What the host learns of each step, written by the op `record` into the buffer "history" [history_rows, columns].
inline constexpr const char* history_name = "history";
inline constexpr std::int64_t history_rows = 256;

/// One part of a training step.
struct UpdateParts {
    bool accumulate = false; ///< gradients go into sums first (accumulation > 1)
    bool apply = true; ///< the optimizer moves the parameters: false in all parts of an accumulated step but the last
};

/// Appends the update to a differentiated graph: `accumulate` into sums, `gradient_norm` where gradients are clipped,
/// the optimizer's op over all parameters at once (stage update), then `record` of `recorded` (each of shape [1], the
/// loss first) and, in the last column, of the gradient's norm (in parts that apply nothing: the loss). The step block
/// and all state become buffers of the graph.
[[nodiscard]] AppendUpdate make_update(const OptimizerConfig& config, UpdateParts parts,
                                       std::vector<TensorId> recorded);

} // namespace espalier
