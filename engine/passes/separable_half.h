// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

#include <optional>
#include <vector>

namespace espalier {

inline constexpr OpId no_op = -1;

/// Depthwise and pointwise convolution and batch norm, one behind the other, with their gradients.
struct SeparableHalf {
    OpId depthwise = no_op, pointwise = no_op, norm = no_op;
    OpId norm_gradient = no_op, pointwise_input = no_op, depthwise_input = no_op;
    OpId pointwise_weight = no_op, depthwise_weight = no_op; ///< gradients that need not be there
    OpId relu = no_op, relu_gradient = no_op;                ///< before the depthwise convolution, for it alone
    OpId cast = no_op, cast_back = no_op;                    ///< of halves, between the two
    /// The half whose batch norm goes into this one's input, and the half into which this one's goes.
    std::optional<std::size_t> before, after;
    TensorId gweight = no_tensor, gbias = no_tensor; ///< of the batch norm
    bool used = true;
};

/// Every such half of a graph, in its order, joined with the one before it where that is possible.
[[nodiscard]] std::vector<SeparableHalf> find_separable_halves(const Graph& graph);

} // namespace espalier
