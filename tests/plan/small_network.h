// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace espalier::testing {

/// A training step of a small residual network: convolution, batch norm, relu, add, pool, linear, cross entropy, sgd.
struct SmallNetwork {
    Graph graph;
    TensorId logits = no_tensor;
    TensorId loss = no_tensor;
    std::size_t forward_ops = 0;
};

/// Inputs "images" [batch,3,6,6] and "labels" i32 [batch]. `training`: with the backward and sgd, else the forward
/// alone.
[[nodiscard]] SmallNetwork small_network(std::int64_t batch, bool training);

} // namespace espalier::testing
