// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/channel_tiles.h"
#include "backends/cuda/kernels/launch_stream.h"
#include "backends/cuda/kernels/weights.h"
#include "base/dtype.h"

#include <cstddef>
#include <cstdint>
#include <string>

/// Pointwise (1x1) convolutions of few channels with a batch norm behind them: forward with the batch's moments, and
/// backward from the gradient of what the batch norm gave. Images are rows of channels, padded to eights by zeros;
/// vectors of channels are f32 and padded alike. Sums over the batch are taken in two stages, in a fixed order: the
/// same input gives the same bits.
namespace espalier::cuda {

struct Pointwise {
    std::int64_t rows = 1;     ///< pixels of all images
    std::int64_t channels = 8; ///< of d, padded
    std::int64_t products = 8; ///< of z, padded
    std::int64_t real_products = 8;
    DType type = DType::f32;
    bool tf32 = false;
    int multiprocessors = 132;
};

/// Why these kernels do not serve a shape; empty: they do.
[[nodiscard]] std::string refusal(const Pointwise& shape);

/// How the rows are cut into blocks: partials of moments are of its slices.
[[nodiscard]] ChannelTiles pointwise_slices(const Pointwise& shape);

/// z = d matrix^T, and partials[slices][2][products] = the means, and sums of squared distances from them, of z, for
/// launch_batch_norm_end. d is [rows, channels], matrix [products, channels].
void launch_pointwise(const Pointwise& shape, const void* d, const void* matrix, void* z, float* partials,
                      const LaunchStream& stream);

/// From the gradient of what a batch norm gave: through it and through the pointwise convolution before it.
struct PointwiseGradient {
    const void* gy = nullptr;
    const void* z = nullptr; ///< what was normalised
    const float* mean = nullptr;
    const float* inv_std = nullptr;
    const float* weight = nullptr;  ///< null: 1
    const float* gweight = nullptr; ///< sum of gy (z - mean) inv_std
    const float* gbias = nullptr;   ///< sum of gy
    const void* d = nullptr;
    Weights matrix;
    void* gd = nullptr;
    /// Null: not wanted. Else [parts][products,channels], the sums of shares of the rows, for launch_split_sum: what
    /// follows gd need not wait for it.
    float* gmatrix_parts = nullptr;
};

[[nodiscard]] std::int64_t pointwise_gradient_parts(const Pointwise& shape);
void launch_pointwise_gradient(const Pointwise& shape, const PointwiseGradient& gradient, const LaunchStream& stream);

} // namespace espalier::cuda
