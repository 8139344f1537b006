// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/ops/arguments.h"

namespace espalier {

/// Attributes of max_pool2d, avg_pool2d and their gradients.
struct Pooling {
    Pair kernel{1, 1};
    Pair stride{1, 1};
    Pair padding{0, 0};
    bool count_include_pad = false; ///< avg_pool2d only: divide by the whole window

    static Pooling from(const Attributes& attributes);

    /// floor((H + 2p - k) / s) + 1, by axis (0: height, 1: width); below 1 if the window does not fit.
    [[nodiscard]] std::int64_t extent(std::size_t axis, std::int64_t input) const;
};

} // namespace espalier
