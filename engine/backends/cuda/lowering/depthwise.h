// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/lowering/lowering.h"

namespace espalier::cuda {

/// Whether a convolution's op has one filter a channel, and the kernels of our own are not switched off.
[[nodiscard]] bool is_depthwise(const Context& c);

[[nodiscard]] Lowered lower_depthwise(const Context& c);
[[nodiscard]] Lowered lower_depthwise_input_gradient(const Context& c);
[[nodiscard]] Lowered lower_depthwise_weight_gradient(const Context& c);
[[nodiscard]] Lowered lower_depthwise_transposed(const Context& c);

} // namespace espalier::cuda
