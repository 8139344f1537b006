// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/launch_stream.h"
#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <cstdint>

/// Pooling of images [N,H,W,Cp]. Eight channels a thread; padding stays zero. Gradients gather: every value of gx sums
/// its windows in one order, so the same input gives the same bits.
namespace espalier::cuda {

struct PoolingShape {
    std::int64_t n = 1;
    int h = 1, w = 1; ///< of x and gx
    int p = 1, q = 1; ///< of y and gy
    int channels = 1; ///< real ones
    int groups = 1;   ///< eights of channels, with padding
    int kernel_h = 1, kernel_w = 1;
    int stride_h = 1, stride_w = 1;
    int padding_h = 0, padding_w = 0; ///< below the kernel
    bool count_include_pad = false;   ///< of the average: divide by the whole window
};

/// `argmax` [N,P,Q,Cp]: place in the window, r*S + s; the first of equals, and NaN wins. May be null.
void launch_max_pool(const void* x, void* y, std::uint8_t* argmax, const PoolingShape& shape, DType type,
                     const LaunchStream& stream);
void launch_max_pool_gradient(const void* gy, const std::uint8_t* argmax, void* gx, const PoolingShape& shape,
                              DType type, const LaunchStream& stream);
void launch_avg_pool(const void* x, void* y, const PoolingShape& shape, DType type, const LaunchStream& stream);
void launch_avg_pool_gradient(const void* gy, void* gx, const PoolingShape& shape, DType type,
                              const LaunchStream& stream);

/// Images [N,pixels,Cp] and their means [N,C], which have no padding.
struct GlobalPoolingShape {
    std::int64_t n = 1;
    int pixels = 1;
    int channels = 1;
    int groups = 1;
};
void launch_global_avg_pool(const void* x, void* y, const GlobalPoolingShape& shape, DType type,
                            const LaunchStream& stream);
void launch_global_avg_pool_gradient(const void* gy, void* gx, const GlobalPoolingShape& shape, DType type,
                                     const LaunchStream& stream);

} // namespace espalier::cuda
