// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/layout.h"

namespace espalier::cuda {

/// Two orders of one tensor, its axes by falling stride of the target, so that an offset there is taken apart from the
/// outside in.
struct Axes {
    std::int64_t extent[4], to_stride[4], from_stride[4];
};

/// Offset in the source of the element at offset `at` of the target; -1 where that is padding.
__device__ inline std::int64_t source_of(const Axes& axes, std::int64_t at) {
    std::int64_t source = 0;
    bool padding = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const auto place = axes.to_stride[i] > 0 ? at / axes.to_stride[i] : 0;
        at -= place * axes.to_stride[i];
        padding |= place >= axes.extent[i];
        source += place * axes.from_stride[i];
    }
    return padding || at != 0 ? -1 : source;
}

inline Axes axes_of(const Strides& source, const Strides& target) {
    int order[4] = {0, 1, 2, 3};
    // By falling stride; an axis of one place comes last, where its stride cannot hide another axis.
    const auto weight = [&](int axis) { return target.extent[axis] == 1 ? -1 : target.stride[axis]; };
    for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j)
            if (weight(order[j]) > weight(order[i])) {
                const int other = order[i];
                order[i] = order[j];
                order[j] = other;
            }
    Axes axes{};
    for (int i = 0; i < 4; ++i) {
        const bool single = target.extent[order[i]] == 1;
        axes.extent[i] = target.extent[order[i]];
        axes.to_stride[i] = single ? 0 : target.stride[order[i]];
        axes.from_stride[i] = single ? 0 : source.stride[order[i]];
    }
    return axes;
}

} // namespace espalier::cuda
