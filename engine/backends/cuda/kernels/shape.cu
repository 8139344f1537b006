// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/ceil_divide.h"
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/divisor.cuh"
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

constexpr std::uint32_t piece_units = 128; ///< of a row, that a warp writes at a time

/// Divisions by what is the same for all.
struct SliceDivisors {
    Divisor pieces; ///< of a row of the target
    Divisor height; ///< of the target
    Divisor stride_h, stride_w;
    Divisor units; ///< of a pixel
};

/// Writes the target: the large image if `gradient`, else the small one. `rows` of all images.
template <bool gradient, class Unit>
__global__ void __launch_bounds__(threads)
    shifted_slice_kernel(const Unit* x, Unit* y, ShiftedSlice s, SliceDivisors by, std::uint32_t rows) {
    const auto units = by.units.value(), width = static_cast<std::uint32_t>(gradient ? s.w : s.q) * units;
    const auto pieces = rows * by.pieces.value(), step = static_cast<std::uint32_t>(grid_size() / 32);
    for (auto i = static_cast<std::uint32_t>(grid_index() / 32); i < pieces; i += step) {
        auto piece = i;
        const auto row = by.pieces.split(piece);
        auto place = row;
        const std::int64_t n = by.height.split(place);
        // The row of x that stands there, if there is one.
        const Unit* from = nullptr;
        if constexpr (gradient) {
            auto rest = place - static_cast<std::uint32_t>(s.offset[0]);
            const bool behind = place >= s.offset[0];
            const auto p = by.stride_h.split(rest);
            if (behind && rest == 0 && p < s.p)
                from = x + (n * s.p + p) * s.q * units;
        } else if (const auto h = place * s.stride[0] + s.offset[0]; h < s.h) {
            from = x + (n * s.h + h) * s.w * units;
        }
        Unit* to = y + static_cast<std::int64_t>(row) * width;
#pragma unroll
        for (std::uint32_t k = 0; k < piece_units; k += 32) {
            const auto j = piece * piece_units + k + threadIdx.x % 32;
            if (j >= width)
                break;
            auto unit = j;
            const auto column = by.units.split(unit);
            Unit value{};
            if (from != nullptr) {
                if constexpr (gradient) {
                    auto rest = column - static_cast<std::uint32_t>(s.offset[1]);
                    const bool behind = column >= s.offset[1];
                    const auto q = by.stride_w.split(rest);
                    if (behind && rest == 0 && q < s.q)
                        value = from[q * units + unit];
                } else if (const auto w = column * s.stride[1] + s.offset[1]; w < s.w) {
                    value = from[w * units + unit];
                }
            }
            to[j] = value;
        }
    }
}

template <bool gradient, class Unit>
void launch_shifted(const Unit* x, Unit* y, ShiftedSlice s, cudaStream_t stream) {
    const auto units = s.pixel / static_cast<std::int64_t>(sizeof(Unit));
    const auto large = s.h * s.w * units, small = s.p * s.q * units; // of an image
    const auto height = gradient ? s.h : s.p, pieces = ceil_divide((gradient ? s.w : s.q) * units, piece_units);
    const SliceDivisors by{Divisor(pieces), Divisor(height), Divisor(s.stride[0]), Divisor(s.stride[1]),
                           Divisor(units)};
    // A launch counts pieces in 31 bits.
    const auto images = s.n, most = std::numeric_limits<std::int32_t>::max() / (height * pieces);
    for (std::int64_t first = 0; first < images; first += most) {
        const auto rows = std::min(most, images - first) * height;
        shifted_slice_kernel<gradient><<<blocks_for(rows * pieces, threads / 32), threads, 0, stream>>>(
            x + first * (gradient ? small : large), y + first * (gradient ? large : small), s, by,
            static_cast<std::uint32_t>(rows));
    }
}

template <bool gradient>
void launch_shifted(const void* x, void* y, const ShiftedSlice& s, cudaStream_t stream) {
    if (s.pixel == sizeof(float))
        launch_shifted<gradient>(static_cast<const float*>(x), static_cast<float*>(y), s, stream);
    else
        launch_shifted<gradient>(static_cast<const uint4*>(x), static_cast<uint4*>(y), s, stream);
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
