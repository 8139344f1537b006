// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/lowering/lowering.h"
#include "graph/ops/convolution.h"

namespace espalier::cuda {

/// How the tensors of a convolution lie.
struct ConvolutionOrders {
    Order x = Order::channels_last, w = Order::filter, y = Order::channels_last;
};

/// Whether each filter works on one channel alone and our kernels for that are wanted.
[[nodiscard]] bool is_depthwise(const Settings& settings, const Op& op, const Shape& weights);

/// Channels last.
[[nodiscard]] ConvolutionOrders channels_last_orders(const Op& op);

/// Whether a convolution is better row-major throughout. `image` is the layout that decides: x of a forward
/// convolution, gy of its gradients; undefined where it is free.
[[nodiscard]] bool wants_row_major(const Settings& settings, const Op& op, DType type, const Shape& weights,
                                   const Layout& image);

/// The order in which the weights of a convolution lie that is not row-major.
[[nodiscard]] Order filter_order(const Settings& settings, const Op& op, const Shape& weights);

} // namespace espalier::cuda
