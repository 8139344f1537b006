// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/depthwise.h"
#include "backends/cuda/kernels/depthwise_input.cuh"
#include "backends/cuda/kernels/depthwise_tile.cuh"
#include "backends/cuda/kernels/overlap.cuh"

#include <numeric>

/// gw(r, s) = sum over images and pixels of gy(p, q) x(p stride - padding + r dilation, ...). Each block sums its share
/// of the pixels in registers, its threads meet in shared memory, and a second kernel adds the blocks: always in the
/// same order, and in short sums whose rounding stays small.
namespace espalier::cuda::depthwise_weights {

inline constexpr int most_threads = 256;
/// Blocks of a multiprocessor at a time. A thread with one row of 3x3 needs few registers.
constexpr int blocks_together(int kernel, int rows) { return kernel == 3 && rows == 1 ? 3 : 2; }
/// More terms than this one after the other would round too much.
inline constexpr std::int64_t most_terms = 1024;

struct Plan {
    int x_h = 1, x_w = 1, y_h = 1, y_w = 1, pitch = 8;
    int stride_h = 1, stride_w = 1, padding_h = 0, padding_w = 0, dilation_h = 1, dilation_w = 1;
    std::uint32_t chunks_a_block = 1;
    Tile tile;
    Chunks chunks; ///< of y
};

/// A thread sums `Rows` rows of the filter over chunks of `Width` outputs. X: the type of x, T or float.
template <class T, class X, int K, int Ratio, int Width, int Rows, InputForm Form>
__global__ void __launch_bounds__(most_threads, blocks_together(K, Rows))
    weight_gradient_kernel(const X* x, const T* gy, float* partials, const Plan plan, const DepthwiseInput input) {
    constexpr int window = (Width - 1) * Ratio + K;
    constexpr std::uint32_t row_groups = K / Rows;
    extern __shared__ float4 sums[]; // [Rows*K][threads], then one a thread
    const std::uint32_t lanes = plan.tile.lanes.value();
    std::uint32_t lane = threadIdx.x;
    const std::uint32_t above_lanes = plan.tile.lanes.split(lane);
    const std::uint32_t first_tap = above_lanes % row_groups * Rows, pixel = above_lanes / row_groups;
    const std::uint32_t vector = blockIdx.y * lanes + lane;
    const std::uint32_t begin = blockIdx.x * plan.chunks_a_block;
    const std::uint32_t end = min(begin + plan.chunks_a_block, plan.chunks.count);
    const int spread = static_cast<int>(plan.chunks.spread.value());
    const int step = plan.dilation_w * plan.pitch;

    take_turn();
    InputChannels channels{};
    bool channels_known = Form != InputForm::normalised;
    if constexpr (Form == InputForm::normalised && Rows > 1) // there are no registers for them beside what comes
        if (vector < plan.tile.vectors) {
            channels = channels_of(input, 4 * vector);
            channels_known = true;
        }
    float4 sum[Rows][K] = {};
    if (vector < plan.tile.vectors) {
        for (std::uint32_t chunk = begin + pixel; chunk < end; chunk += plan.tile.pixels) {
            const auto place = plan.chunks.at(chunk);
            Packed4<T> g[Width];
            const T* from_gy =
                gy +
                ((static_cast<std::int64_t>(place.image) * plan.y_h + place.row) * plan.y_w + place.column) *
                    plan.pitch +
                4 * vector;
#pragma unroll
            for (int j = 0; j < Width; ++j)
                g[j] = static_cast<int>(place.column) + j * spread < plan.y_w
                           ? load_packed4(from_gy + j * spread * plan.pitch)
                           : Packed4<T>{};
            const int first_column = static_cast<int>(place.column) * plan.stride_w - plan.padding_w;
            const int first_row = static_cast<int>(place.row) * plan.stride_h - plan.padding_h +
                                  static_cast<int>(first_tap) * plan.dilation_h;
            std::uint32_t columns = 0;
#pragma unroll
            for (int i = 0; i < window; ++i)
                columns |= static_cast<unsigned>(first_column + i * plan.dilation_w) < static_cast<unsigned>(plan.x_w)
                               ? 1U << i
                               : 0U;
#pragma unroll
            for (int r = 0; r < Rows; ++r) {
                const int h = first_row + r * plan.dilation_h;
                const std::uint32_t valid = static_cast<unsigned>(h) < static_cast<unsigned>(plan.x_h) ? columns : 0U;
                const X* from =
                    x +
                    ((static_cast<std::int64_t>(place.image) * plan.x_h + h) * plan.x_w + first_column) * plan.pitch +
                    4 * vector;
                Packed4<X> row[window];
#pragma unroll
                for (int i = 0; i < window; ++i)
                    row[i] = valid >> i & 1U ? load_packed4(from + i * step) : Packed4<X>{};
                if (Rows == 1 && !channels_known) { // here, so that they are on their way together with the images
                    channels = channels_of(input, 4 * vector);
                    channels_known = true;
                }
#pragma unroll
                for (int i = 0; i < window; ++i) {
                    float4 in = rounded<T, X>(unpack4<X>(row[i]));
                    if constexpr (Form == InputForm::relu)
                        in = positive(in);
                    if constexpr (Form == InputForm::normalised) // padding comes behind the batch norm
                        in = valid >> i & 1U ? entered(in, channels, input.relu) : float4{};
#pragma unroll
                    for (int j = 0; j < Width; ++j)
                        if (const int s = i - Ratio * j; s >= 0 && s < K)
                            multiply_add(sum[r][s], in, unpack4<T>(g[j]));
                }
            }
        }
    }
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
        for (int s = 0; s < K; ++s)
            sums[(r * K + s) * blockDim.x + threadIdx.x] = sum[r][s];
    __syncthreads();

    // Four channels of a tap a thread, over some of the pixels' threads; then over those parts.
    const std::uint32_t results = K * K * lanes;
    const std::uint32_t parts = max(min(blockDim.x / results, plan.tile.pixels), 1U);
    float4* part_sums = sums + Rows * K * blockDim.x;
    float4* to = reinterpret_cast<float4*>(partials + static_cast<std::int64_t>(blockIdx.x) * K * K * plan.pitch);
    const auto place_of = [&](std::uint32_t tap, std::uint32_t l) { // in float4
        return tap * (static_cast<std::uint32_t>(plan.pitch) / 4) + blockIdx.y * lanes + l;
    };
    for (std::uint32_t i = threadIdx.x; i < results * parts; i += blockDim.x) {
        std::uint32_t l = i;
        const std::uint32_t above = plan.tile.lanes.split(l), part = above / (K * K), tap = above % (K * K),
                            r = tap / K;
        const float4* from = sums + (r % Rows * K + tap % K) * blockDim.x + r / Rows * lanes + l;
        float4 total{};
#pragma unroll 4
        for (std::uint32_t p = part; p < plan.tile.pixels; p += parts)
            add_to(total, from[p * row_groups * lanes]);
        if (parts > 1)
            part_sums[i] = total;
        else if (blockIdx.y * lanes + l < plan.tile.vectors)
            to[place_of(tap, l)] = total;
    }
    if (parts == 1)
        return;
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < results; i += blockDim.x) {
        std::uint32_t l = i;
        const std::uint32_t tap = plan.tile.lanes.split(l);
        float4 total = part_sums[i];
        for (std::uint32_t part = 1; part < parts; ++part)
            add_to(total, part_sums[part * results + i]);
        if (blockIdx.y * lanes + l < plan.tile.vectors)
            to[place_of(tap, l)] = total;
    }
}

/// How the pixels are shared out among blocks.
struct Shares {
    Tile tile;
    std::int64_t splits = 1, share = 1; ///< blocks, chunks (or pixels) of each

    /// `together`: blocks of a multiprocessor at a time, `taps`: blocks that have the same share.
    Shares(const Depthwise& d, std::int64_t chunks, std::int64_t width, std::int64_t row_groups, std::int64_t together,
           std::int64_t taps)
        : tile(d.channels, most_threads, row_groups) {
        const auto most = (chunks + tile.pixels - 1) / tile.pixels;
        const auto filled = std::max<std::int64_t>(together * usual_multiprocessors / (tile.slabs * taps), 1);
        const auto exact = (chunks * width + most_terms * tile.pixels - 1) / (most_terms * tile.pixels);
        splits = std::min(most, std::max(filled, exact));
        share = (chunks + splits - 1) / splits;
        splits = (chunks + share - 1) / share;
    }
};

using Pair = std::array<std::int64_t, 2>;

inline std::int64_t spread_of(const Depthwise& d) { return d.dilation[1] / std::gcd(d.stride[1], d.dilation[1]); }
inline std::int64_t ratio_of(const Depthwise& d) { return d.stride[1] / std::gcd(d.stride[1], d.dilation[1]); }
/// Rows of the filter that a thread of an unrolled kernel sums. All of 3x3 take the fewest loads; one by one they give
/// three times as many threads with a third of the registers, which hides more of the way to memory until each thread
/// has several chunks.
inline std::int64_t rows_of(const Depthwise& d) {
    constexpr std::int64_t many = 4 * 2 * most_threads * usual_multiprocessors;
    const auto threads = d.n * d.y[0] * ((d.y[1] + 7) / 8) * (d.channels / 4);
    return d.kernel[0] == 3 && (ratio_of(d) == 2 || threads >= many) ? 3 : 1;
}
inline std::int64_t row_groups_of(const Depthwise& d) { return d.kernel[0] / rows_of(d); }
inline std::int64_t width_of(const Depthwise& d) {
    const bool narrow = d.kernel[0] == 3 && rows_of(d) == 1;
    return ratio_of(d) == 1 && d.y[1] / spread_of(d) > 4 && !narrow ? 8 : 4;
}

inline bool is_unrolled(const Depthwise& d) {
    const auto k = d.kernel[0];
    const auto reach = [&d](std::size_t axis) {
        return (d.y[axis] + 32) * d.stride[axis] + d.padding[axis] + d.kernel[axis] * d.dilation[axis] + d.x[axis];
    };
    return (k == 3 || k == 5 || k == 7) && d.kernel[1] == k && ratio_of(d) <= 2 && spread_of(d) <= 4 &&
           fits_32_bits(d.n * d.y[0] * (d.y[1] + 8 * spread_of(d))) && fits_32_bits(reach(0)) &&
           fits_32_bits(reach(1) * d.channels) && fits_32_bits(k * k * d.channels) && d.channels / 4 <= 16 * 65535;
}

inline Chunks chunks_of(const Depthwise& d) { return Chunks(d.n, d.y[0], d.y[1], width_of(d), spread_of(d)); }

inline Shares shares_of(const Depthwise& d) {
    if (is_unrolled(d))
        return Shares(d, chunks_of(d).count, width_of(d), row_groups_of(d),
                      blocks_together(static_cast<int>(d.kernel[0]), static_cast<int>(rows_of(d))), 1);
    return Shares(d, d.n * d.y[0] * d.y[1], 1, 1, 2, d.kernel[0] * d.kernel[1]);
}

template <class T, class X, int K, int Ratio, int Width, int Rows, InputForm Form>
void launch_cut(const Depthwise& d, const DepthwiseInput& input, const T* gy, float* partials,
                const LaunchStream& stream) {
    Plan plan;
    const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
    plan.x_h = as_int(d.x[0]), plan.x_w = as_int(d.x[1]);
    plan.y_h = as_int(d.y[0]), plan.y_w = as_int(d.y[1]);
    plan.pitch = as_int(d.channels);
    plan.stride_h = as_int(d.stride[0]), plan.stride_w = as_int(d.stride[1]);
    plan.padding_h = as_int(d.padding[0]), plan.padding_w = as_int(d.padding[1]);
    plan.dilation_h = as_int(d.dilation[0]), plan.dilation_w = as_int(d.dilation[1]);
    plan.chunks = chunks_of(d);
    const auto shares = shares_of(d);
    plan.tile = shares.tile;
    plan.chunks_a_block = static_cast<std::uint32_t>(shares.share);
    const auto threads = plan.tile.width * plan.tile.pixels * (K / Rows);
    const dim3 grid(static_cast<unsigned>(shares.splits), plan.tile.slabs);
    enqueue(weight_gradient_kernel<T, X, K, Ratio, Width, Rows, Form>, grid, dim3(threads),
            (Rows * K + 1) * threads * sizeof(float4), stream, static_cast<const X*>(input.x), gy, partials, plan,
            input);
}

/// Without a stride.
template <class T, class X, int K, InputForm Form>
void launch(const Depthwise& d, const DepthwiseInput& input, const T* gy, float* partials, const LaunchStream& stream) {
    if constexpr (K == 3) {
        if (rows_of(d) == 1)
            return launch_cut<T, X, K, 1, 4, 1, Form>(d, input, gy, partials, stream);
    }
    constexpr int rows = K == 3 ? 3 : 1;
    if (width_of(d) == 8)
        launch_cut<T, X, K, 1, 8, rows, Form>(d, input, gy, partials, stream);
    else
        launch_cut<T, X, K, 1, 4, rows, Form>(d, input, gy, partials, stream);
}

} // namespace espalier::cuda::depthwise_weights
