// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace espalier::cuda {

/// The convolution that begins many networks: of images of up to four channels, with a horizontal stride of two. The
/// library spends half its products or more on the channels up to eight. x [N,H,W,8], w [K,R,S,8], y [N,P,Q,K], K in
/// whole eights.
struct FirstConvolution {
    DType type = DType::f16; ///< f16, bf16, or f32 whose factors are rounded to 10 bits
    std::int64_t n = 1;
    int h = 1, w = 1; ///< of x
    int p = 1, q = 1; ///< of y
    int filters = 8;  ///< with padding
    int kernel_h = 1, kernel_w = 1;
    int stride_h = 1;
    int padding_h = 0, padding_w = 0;

    /// Blocks with all they need in shared memory; false if it is too much on this device, or the kernel is too wide.
    [[nodiscard]] bool fits(int major) const;
};

void launch_first_convolution(const FirstConvolution& convolution, const void* x, const void* w, void* y,
                              cudaStream_t stream);

} // namespace espalier::cuda
