// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/depthwise.h"
#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

namespace espalier::cuda {

/// out(p, q) = sum over (r, s) of filter(r, s) in(p stride - padding + r dilation, ...), channel by channel: a
/// depthwise convolution, and with the filter turned by half a circle the input gradient of one of stride 1 (whose
/// padding may then be negative).
struct Gather {
    std::int64_t n = 1;
    std::array<std::int64_t, 2> in{1, 1}, out{1, 1};
    std::int64_t channels = 8;
    std::array<std::int64_t, 2> kernel{3, 3}, stride{1, 1}, padding{1, 1}, dilation{1, 1};
    bool flip = false, relu = false;
    DType type = DType::f32;
};

/// The input gradient of a depthwise convolution of stride 1.
[[nodiscard]] Gather input_gradient_gather(const Depthwise& shape);
/// The convolution itself.
[[nodiscard]] Gather forward_gather(const Depthwise& shape, bool relu);

void launch_gather(const Gather& gather, const void* in, const void* filter, const float* bias, void* out,
                   const LaunchStream& stream);

} // namespace espalier::cuda
