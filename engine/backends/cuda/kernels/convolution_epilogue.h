// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace espalier::cuda {

/// What follows a convolution in place: y = act(y + bias).
struct Epilogue {
    std::int64_t elements = 0;
    std::int64_t step = 1;     ///< elements from one channel to the next: 1, or H*W where channels come first
    std::int64_t pitch = 0;    ///< channels with padding
    std::int64_t channels = 0; ///< real ones; padding stays zero
    bool relu = false;
    DType type = DType::f32;
};

/// `bias` [channels] or null.
void launch_epilogue(void* y, const float* bias, const Epilogue& epilogue, cudaStream_t stream);

} // namespace espalier::cuda
