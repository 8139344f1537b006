// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/channel_tiles.h"
#include "backends/cuda/kernels/launch_stream.h"
#include "backends/cuda/kernels/plain_channels.h"
#include "base/dtype.h"

#include <cuda_runtime_api.h>

/// Batch normalisation and sums by channel, over rows of channels; padding stays zero. The definitions are in
/// docs/OPS.md. Channels' vectors are f32, padded to eights with zeros; absent tensors are null. Nothing here uses
/// atomics: the same input gives the same bits.
namespace espalier::cuda {

/// y = act((x - mean) inv_std weight + bias + residual). y may be x or residual.
struct NormalizeRows {
    const void* x = nullptr;
    const void* residual = nullptr;
    void* y = nullptr;
    const float* weight = nullptr;
    const float* bias = nullptr;
    bool relu = false;
    DType type = DType::f32; ///< of x, residual and y
};

/// What training computes beside y.
struct BatchStatistics {
    float* mean = nullptr;
    float* inv_std = nullptr;
    const float* old_mean = nullptr; ///< running statistics before; may be the same memory as after
    const float* old_var = nullptr;
    float* running_mean = nullptr; ///< null: they are not updated
    float* running_var = nullptr;
    float eps = 1e-5F;
    float momentum = 0.1F;
};

/// Two launches, or one. `partials` has partial_floats(tiles).
void launch_batch_norm(const NormalizeRows& rows, const BatchStatistics& statistics, const ChannelTiles& tiles,
                       float* partials, const LaunchStream& stream);
/// The second of the two, whoever made partials[slices][2][pitch], the means and the sums of squared distances from
/// them, of slices as `from` says; `tiles` cut y. Without a y it leaves the statistics alone.
void launch_batch_norm_end(const NormalizeRows& rows, const BatchStatistics& statistics, const ChannelTiles& tiles,
                           const ChannelTiles& from, const float* partials, const LaunchStream& stream);

/// With given statistics. `spread` is inv_std, or the variance if `eps` is above 0.
void launch_normalize(const NormalizeRows& rows, const float* mean, const float* spread, float eps,
                      const ChannelTiles& tiles, const LaunchStream& stream);

/// Gradients of NormalizeRows through the batch's statistics. gx may be x, gy or y; gresidual gy or y, if gx is not.
struct NormalizeGradient {
    const void* x = nullptr;
    const void* gy = nullptr;
    const void* y = nullptr; ///< given: gy counts where y > 0
    void* gx = nullptr;
    void* gresidual = nullptr; ///< the masked gy
    const float* mean = nullptr;
    const float* inv_std = nullptr;
    const float* weight = nullptr;
    float* gweight = nullptr;
    float* gbias = nullptr;
    DType type = DType::f32;
};

void launch_batch_norm_gradient(const NormalizeGradient& gradient, const ChannelTiles& tiles, float* partials,
                                const LaunchStream& stream);
/// The second of its two launches, without a gx: gweight and gbias from partials[slices][2][pitch] = sums of gy and of
/// gy (x - mean) of each slice, whoever made them.
void launch_batch_norm_sums_end(const NormalizeGradient& gradient, const ChannelTiles& tiles, const float* partials,
                                const LaunchStream& stream);

/// result[pitch] = sum of x over the rows. One launch or two.
void launch_channel_sum(const void* x, float* result, DType type, const ChannelTiles& tiles, float* partials,
                        const LaunchStream& stream);

/// The same ops on row-major x [outer, channels, inner]; partials has partial_floats(shape).
void launch_batch_norm(const NormalizeRows& rows, const BatchStatistics& statistics, const PlainChannels& shape,
                       float* partials, cudaStream_t stream);
void launch_normalize(const NormalizeRows& rows, const float* mean, const float* spread, float eps,
                      const PlainChannels& shape, cudaStream_t stream);
void launch_batch_norm_gradient(const NormalizeGradient& gradient, const PlainChannels& shape, float* partials,
                                cudaStream_t stream);
void launch_channel_sum(const void* x, float* result, DType type, const PlainChannels& shape, float* partials,
                        cudaStream_t stream);

} // namespace espalier::cuda
