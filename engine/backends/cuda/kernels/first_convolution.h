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
    int block_rows = 0; ///< of y that a block computes; prepare() chooses

    /// Makes the kernel ready on the current device, which runs code of that architecture. False if there is none for
    /// it (before 80), if what a block keeps in shared memory is too much there, or if the window is too large.
    [[nodiscard]] bool prepare(int architecture);
};

/// Of a prepared one.
void launch_first_convolution(const FirstConvolution& convolution, const void* x, const void* w, void* y,
                              cudaStream_t stream);

} // namespace espalier::cuda
