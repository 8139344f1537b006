// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/launch_stream.h"
#include "base/dtype.h"

#include <cstdint>

namespace espalier::cuda {

/// A pointwise convolution from few channels to many, as at the end of a bottleneck: nearly all of its time is that of
/// writing y. y = act(x w^T + bias); x [rows, channels], w [filters, channels], y [rows, filters], in halves.
struct Expansion {
    DType type = DType::f16; ///< f16 or bf16; sums are in f32
    std::int64_t rows = 1;   ///< pixels of all images
    int channels = 8;        ///< with padding, in whole eights
    int filters = 8;         ///< with padding, in whole eights
    int real_filters = 8;
    bool relu = false;
    int multiprocessors = 132;
};

/// Whether the kernel is made for a shape, on a card of that architecture: up to 32 channels it took 0.57 to 0.93 of the
/// library's time, from there to 64 not less for few pixels or for a part of a block's filters (docs/BENCHMARKS.md).
[[nodiscard]] bool is_expansion(const Expansion& shape, int architecture);

/// `bias` [real_filters] or null; padding stays zero.
void launch_expansion(const Expansion& shape, const void* x, const void* w, const float* bias, void* y,
                      const LaunchStream& stream);

} // namespace espalier::cuda
