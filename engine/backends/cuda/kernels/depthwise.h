// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/launch_stream.h"
#include "backends/cuda/kernels/weights.h"
#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

/// Depthwise convolution: every channel has a filter of its own. Sums are in f32, every result is the same each time.
///
/// A thread makes several neighbouring outputs of four channels, so that it reads what they share once; the filter lies
/// in shared memory. Kernels of 3x3, 5x5 and 7x7 are unrolled; every other shape has a plain loop.
namespace espalier::cuda {

/// x [N,H,W,C], filter [R,S,C], y [N,P,Q,C]; pairs are {height, width}.
struct Depthwise {
    std::int64_t n = 1;
    std::array<std::int64_t, 2> x{1, 1}; ///< H, W
    std::array<std::int64_t, 2> y{1, 1}; ///< P, Q
    std::int64_t channels = 8;           ///< with padding: a multiple of eight; padding stays zero
    std::array<std::int64_t, 2> kernel{3, 3}, stride{1, 1}, padding{1, 1}, dilation{1, 1};
    DType type = DType::f32; ///< of images and filter
};

/// y = act(conv(x, filter) + bias); `bias` [C] or null.
void launch_depthwise(const Depthwise& shape, const void* x, const void* filter, const float* bias, bool relu, void* y,
                      const LaunchStream& stream);

/// gx from gy. With a bias it is the transposed convolution: gx + bias.
void launch_depthwise_input_gradient(const Depthwise& shape, const void* gy, const void* filter, const float* bias,
                                     void* gx, const LaunchStream& stream);

/// Bytes of scratch memory for the sums of the blocks.
[[nodiscard]] std::size_t depthwise_weight_gradient_workspace(const Depthwise& shape);
/// gw [R,S,C] of type `gw_type`.
void launch_depthwise_weight_gradient(const Depthwise& shape, const void* x, const void* gy, float* workspace, void* gw,
                                      DType gw_type, const LaunchStream& stream);

/// What a depthwise convolution reads through: v = (x - mean) inv_std weight + bias if `mean` is given, then max(v, 0)
/// if `relu`; padding comes behind it. Vectors are [C] with zeros for padding channels.
struct DepthwiseInput {
    const void* x = nullptr;
    const float* mean = nullptr;
    const float* inv_std = nullptr;
    const float* weight = nullptr; ///< null: 1
    const float* bias = nullptr;   ///< null: 0
    bool relu = false;
    /// x is f32 beside halves, without a batch norm: it is rounded to them as it is read, and its gradient is f32 too.
    bool f32 = false;
};

/// Whether the kernels below serve a shape: stride 1 without dilation, 3x3 or 5x5, and so few blocks that their sums
/// are soon merged.
[[nodiscard]] bool reads_through(const Depthwise& shape);
/// y = conv(v, filter).
void launch_depthwise(const Depthwise& shape, const DepthwiseInput& input, const void* filter, void* y,
                      const LaunchStream& stream);
/// gx = the gradient of v before its ReLU. Weights of f32 and an x of f32 are served behind a ReLU or a batch norm.
/// With a mean partials[blocks][2][C] = sums of gx and of gx (x - mean) over the share of each block, for
/// launch_batch_norm_sums_end.
void launch_depthwise_input_gradient(const Depthwise& shape, const void* gy, const DepthwiseInput& input,
                                     const Weights& filter, void* gx, float* partials, const LaunchStream& stream);
[[nodiscard]] std::int64_t depthwise_input_gradient_blocks(const Depthwise& shape);
void launch_depthwise_weight_gradient(const Depthwise& shape, const DepthwiseInput& input, const void* gy,
                                      float* workspace, void* gw, DType gw_type, const LaunchStream& stream);

/// "3x3 stride 2", for the names of kernels.
[[nodiscard]] std::string window_text(const Depthwise& shape);

} // namespace espalier::cuda
