// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/lowering/lowering.h"
#include "graph/ops/convolution.h"

namespace espalier::cuda {

/// Whether each filter works on one channel alone and our kernels for that are wanted.
[[nodiscard]] inline bool is_depthwise(const Settings& settings, const Op& op, const Shape& weights) {
    return !settings.options.reference_separable && weights[0] == Convolution::from(op.attributes).groups &&
           weights[1] == 1;
}

/// The order in which the weights of a convolution lie.
[[nodiscard]] inline Order filter_order(const Settings& settings, const Op& op, const Shape& weights) {
    if (is_depthwise(settings, op, weights))
        return Order::depthwise_filter;
    return Convolution::from(op.attributes).groups > 1 ? Order::filter_packed : Order::filter;
}

} // namespace espalier::cuda
