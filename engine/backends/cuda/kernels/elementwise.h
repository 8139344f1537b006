// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/launch_stream.h"
#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

/// Ops on flat arrays: any order, all tensors in the same one.
namespace espalier::cuda {

/// y = max(x, 0).
void launch_relu(const void* x, void* y, std::int64_t count, DType type, const LaunchStream& stream);
/// gx = gy where y > 0, else 0.
void launch_relu_gradient(const void* y, const void* gy, void* gx, std::int64_t count, DType type, const LaunchStream& stream);

inline constexpr std::size_t most_summands = 64;
/// y = act(x1 + ... + xn). y may be x1 or x2. At most `most_summands` in one launch; the lowering splits more.
void launch_add(const std::vector<const void*>& x, void* y, bool relu, std::int64_t count, DType type,
                const LaunchStream& stream);
/// y = c x, c on the device.
void launch_scale(const void* x, const float* c, void* y, std::int64_t count, DType type, const LaunchStream& stream);
/// y = value in the first `channels` of every `pitch` elements, zero in the rest.
void launch_constant(void* y, float value, std::int64_t channels, std::int64_t pitch, std::int64_t count, DType type,
                     const LaunchStream& stream);

} // namespace espalier::cuda
