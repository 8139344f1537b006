// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace espalier::cuda {

/// A tensor cut along one axis: `outer` x `extent` x `inner`. Outer steps are `pitch` elements; those behind
/// extent * inner are padding.
struct SoftmaxShape {
    std::int64_t outer = 1, extent = 1, inner = 1, pitch = 1;
    DType type = DType::f32;
};
void launch_softmax(const void* x, void* y, const SoftmaxShape& shape, cudaStream_t stream);
/// gx = y (gy - sum y gy).
void launch_softmax_gradient(const void* y, const void* gy, void* gx, const SoftmaxShape& shape, cudaStream_t stream);

} // namespace espalier::cuda
