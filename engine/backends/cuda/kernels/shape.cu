// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/shape.h"

#include <algorithm>
#include <limits>

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

/// Divisions of 64 bits are slow: calls body(an index type) with 32 bits where the count fits.
template <class Body>
void with_index(std::int64_t count, Body&& body) {
    if (count < std::numeric_limits<std::int32_t>::max())
        body(std::uint32_t{});
    else
        body(std::int64_t{});
}

struct Segments {
    Segment at[most_segments];
    int count;
};

/// All of `segments`, pitch and columns in units of one Unit.
template <class Unit, class Index>
__global__ void __launch_bounds__(threads)
    gather_kernel(const __grid_constant__ Segments segments, Unit* y, std::int64_t rows, std::int64_t pitch,
                  std::int64_t first, std::int64_t width) {
    const auto count = rows * width;
    for (auto i = grid_index(); i < count; i += grid_size()) {
        const std::int64_t row = static_cast<Index>(i) / static_cast<Index>(width);
        const auto column = first + (i - row * width);
        int s = 0;
        while (s < segments.count && column >= segments.at[s].end)
            ++s;
        Unit value{};
        if (s < segments.count && column >= segments.at[s].begin) {
            const auto& segment = segments.at[s];
            value =
                static_cast<const Unit*>(segment.data)[row * segment.pitch + segment.offset + (column - segment.begin)];
        }
        y[row * pitch + column] = value;
    }
}

template <class Unit>
void launch_gather(std::span<const Segment> given, void* y, std::int64_t rows, std::int64_t pitch, std::int64_t first,
                   std::int64_t last, std::int64_t per_unit, cudaStream_t stream) {
    Segments segments{};
    segments.count = static_cast<int>(given.size());
    for (std::size_t i = 0; i < given.size(); ++i)
        segments.at[i] = {given[i].data, given[i].pitch / per_unit, given[i].offset / per_unit,
                          given[i].begin / per_unit, given[i].end / per_unit};
    const auto width = (last - first) / per_unit;
    with_index(rows * width, [&](auto index) {
        gather_kernel<Unit, decltype(index)><<<blocks_for(rows * width, threads), threads, 0, stream>>>(
            segments, static_cast<Unit*>(y), rows, pitch / per_unit, first / per_unit, width);
    });
}

/// A thread writes 16 bytes of a pixel of the target: of the large image if `gradient`, else of the small one.
template <bool gradient, class Index>
__global__ void __launch_bounds__(threads) shifted_slice_kernel(const uint4* x, uint4* y, ShiftedSlice s) {
    const auto units = s.pixel / 16;
    const auto height = gradient ? s.h : s.p, width = gradient ? s.w : s.q;
    const auto count = s.n * height * width * units;
    for (auto i = grid_index(); i < count; i += grid_size()) {
        Index rest = static_cast<Index>(i);
        const std::int64_t unit = rest % static_cast<Index>(units);
        rest /= static_cast<Index>(units);
        const std::int64_t column = rest % static_cast<Index>(width);
        rest /= static_cast<Index>(width);
        const std::int64_t row = rest % static_cast<Index>(height);
        const std::int64_t n = rest / static_cast<Index>(height);
        uint4 value{};
        if constexpr (gradient) {
            const auto dh = row - s.offset[0], dw = column - s.offset[1];
            if (dh >= 0 && dw >= 0 && dh % s.stride[0] == 0 && dw % s.stride[1] == 0)
                value = x[((n * s.p + dh / s.stride[0]) * s.q + dw / s.stride[1]) * units + unit];
        } else {
            const auto h = row * s.stride[0] + s.offset[0], w = column * s.stride[1] + s.offset[1];
            if (h < s.h && w < s.w)
                value = x[((n * s.h + h) * s.w + w) * units + unit];
        }
        y[i] = value;
    }
}

template <bool gradient>
void launch_shifted(const void* x, void* y, const ShiftedSlice& s, cudaStream_t stream) {
    const auto count = s.n * (gradient ? s.h * s.w : s.p * s.q) * (s.pixel / 16);
    with_index(count, [&](auto index) {
        shifted_slice_kernel<gradient, decltype(index)><<<blocks_for(count, threads), threads, 0, stream>>>(
            static_cast<const uint4*>(x), static_cast<uint4*>(y), s);
    });
}

} // namespace

void launch_gather_rows(std::span<const Segment> segments, void* y, std::int64_t rows, std::int64_t pitch,
                        std::int64_t first, std::int64_t last, std::size_t element, cudaStream_t stream) {
    // Whole vectors of 16 bytes, if every part begins and ends with one.
    const auto per_vector = static_cast<std::int64_t>(16 / element);
    const auto whole = [&](std::int64_t elements) { return elements % per_vector == 0; };
    const bool vectors = whole(pitch) && whole(first) && whole(last) && std::ranges::all_of(segments, [&](auto& s) {
                             return whole(s.pitch) && whole(s.offset) && whole(s.begin) && whole(s.end);
                         });
    if (vectors)
        return launch_gather<uint4>(segments, y, rows, pitch, first, last, per_vector, stream);
    switch (element) {
    case 4:
        return launch_gather<std::uint32_t>(segments, y, rows, pitch, first, last, 1, stream);
    case 2:
        return launch_gather<std::uint16_t>(segments, y, rows, pitch, first, last, 1, stream);
    default:
        return launch_gather<std::uint8_t>(segments, y, rows, pitch, first, last, 1, stream);
    }
}

void launch_shifted_slice(const void* large, void* small, const ShiftedSlice& slice, cudaStream_t stream) {
    launch_shifted<false>(large, small, slice, stream);
}

void launch_shifted_slice_gradient(const void* small, void* large, const ShiftedSlice& slice, cudaStream_t stream) {
    launch_shifted<true>(small, large, slice, stream);
}

} // namespace espalier::cuda
