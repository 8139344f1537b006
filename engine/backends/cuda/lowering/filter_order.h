// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/layout.h"
#include "graph/graph.h"
#include "graph/ops/convolution.h"

namespace espalier::cuda {

/// The order in which the weights of a convolution lie, from its attributes and their shape.
[[nodiscard]] inline Order filter_order(const Op& op, const Shape& weights) {
    static_cast<void>(weights);
    return Convolution::from(op.attributes).groups > 1 ? Order::filter_packed : Order::filter;
}

} // namespace espalier::cuda
