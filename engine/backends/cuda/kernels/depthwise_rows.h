// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/depthwise.h"

#include <optional>

/// The input gradient of a depthwise convolution of stride 1 on large tensors: a block brings rows of gy into shared
/// memory, all of them on their way at once, and makes cells of two rows by four pixels from there. Where an output is
/// to be masked, its x is on its way meanwhile.
namespace espalier::cuda {

/// Pairs of rows of an image, the last of which is one row where the height is odd, by blocks.
struct DepthwiseRows {
    int pairs_of_step = 1; ///< that a block makes at a time
    int steps = 1;
    int blocks = 1;  ///< over the pairs of all images
    int ring = 1;    ///< rows of gy that a block has at a time
    int threads = 1; ///< of a block
};

/// For 3x3 and 5x5 of "same" padding without dilation, where every multiprocessor gets enough to do and the cells of
/// two rows are few enough for the threads of a block; nothing elsewhere.
[[nodiscard]] std::optional<DepthwiseRows> depthwise_rows(const Depthwise& shape);

/// As launch_depthwise_input_gradient; without an input that is read through: the gradient alone.
void launch_depthwise_rows(const Depthwise& shape, const DepthwiseRows& rows, const void* gy,
                           const DepthwiseInput& input, const Weights& filter, void* gx, float* partials,
                           const LaunchStream& stream);

} // namespace espalier::cuda
