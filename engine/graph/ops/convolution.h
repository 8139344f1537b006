// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/ops/arguments.h"

namespace espalier {

/// Attributes of the convolutions: conv2d, conv_transpose2d and the gradients of conv2d.
struct Convolution {
    Pair stride{1, 1};
    Pair padding{0, 0};
    Pair dilation{1, 1};
    Pair output_padding{0, 0}; ///< conv_transpose2d only
    std::int64_t groups = 1;
    bool relu = false; ///< conv2d only: y = max(y, 0)

    static Convolution from(const Attributes& attributes);
};

/// floor((H + 2p - d(k-1) - 1) / s) + 1, by axis (0: height, 1: width); below 1 if the kernel does not fit.
[[nodiscard]] std::int64_t convolution_extent(const Convolution& convolution, std::size_t axis, std::int64_t input,
                                              std::int64_t kernel);
/// (H-1)s - 2p + d(k-1) + output_padding + 1.
[[nodiscard]] std::int64_t transposed_extent(const Convolution& convolution, std::size_t axis, std::int64_t input,
                                             std::int64_t kernel);

} // namespace espalier
