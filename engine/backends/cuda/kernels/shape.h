// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

/// Copies of parts of tensors: bytes are moved, no type is known.
namespace espalier::cuda {

/// Columns [begin, end) of every row of the target come from a source: its column `offset` onwards. In elements.
struct Segment {
    const void* data = nullptr;
    std::int64_t pitch = 0; ///< elements from one row of the source to the next
    std::int64_t offset = 0;
    std::int64_t begin = 0, end = 0;
};

inline constexpr std::size_t most_segments = 64;
/// Fills columns [first, last) of `rows` rows of `pitch` elements from segments in rising order; zero where there is
/// none. At most `most_segments` in one launch.
void launch_gather_rows(std::span<const Segment> segments, void* y, std::int64_t rows, std::int64_t pitch,
                        std::int64_t first, std::int64_t last, std::size_t element, cudaStream_t stream);

/// Pixels of [n, h, w] and of [n, p, q] = [n, ceil(h / stride), ceil(w / stride)]: pixel (p, q) of the small image is
/// (p stride + offset, q stride + offset) of the large one. A pixel has `pixel` bytes, a multiple of 16; or 4, where the
/// planes of row-major images count as images.
struct ShiftedSlice {
    std::int64_t n, h, w, p, q;
    std::array<std::int64_t, 2> offset, stride;
    std::int64_t pixel;
};
/// small = the pixels of large, zero beyond its edge.
void launch_shifted_slice(const void* large, void* small, const ShiftedSlice& slice, cudaStream_t stream);
/// large = the pixels of small in their places, zero elsewhere.
void launch_shifted_slice_gradient(const void* small, void* large, const ShiftedSlice& slice, cudaStream_t stream);

} // namespace espalier::cuda
