// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/launch_stream.h"

#include <cstdint>

namespace espalier::cuda {

/// The weight gradient of a pointwise convolution, row-major and in f32 without rounding of factors: w = sum over
/// images and pixels of gy x^T. The library spends three times as long on it. The same input gives the same bits.
struct PointwiseWeightGradient {
    std::int64_t images = 1;
    std::int64_t pixels = 1; ///< of an image
    std::int64_t channels = 1, filters = 1;
    int multiprocessors = 132;

    /// Into how many shares the pixels are cut.
    [[nodiscard]] std::int64_t parts() const;
};

/// Whether the library takes longer: up to twice as long for a few tiles of weights, less for many or for half a one.
[[nodiscard]] bool is_worthwhile(const PointwiseWeightGradient& shape);

/// parts [parts()][filters][channels] = the sums over each share of the pixels, for launch_split_sum.
/// x [images, channels, pixels], gy [images, filters, pixels].
void launch_pointwise_weight_gradient(const PointwiseWeightGradient& shape, const float* x, const float* gy,
                                      float* parts, const LaunchStream& stream);

} // namespace espalier::cuda
