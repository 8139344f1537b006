// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/depthwise_gather.h"
#include "backends/cuda/kernels/depthwise_input.cuh"
#include "backends/cuda/kernels/depthwise_tile.cuh"
#include "backends/cuda/kernels/overlap.cuh"

#include <cstdlib>
#include <numeric>

namespace espalier::cuda {

inline constexpr int gather_threads = 256;

/// A gather with a thread's place in it.
struct GatherPlan {
    int in_h = 1, in_w = 1, out_h = 1, out_w = 1, pitch = 8;
    int stride_h = 1, stride_w = 1, padding_h = 0, padding_w = 0, dilation_h = 1, dilation_w = 1;
    bool flip = false, relu = false;
    Tile tile;
    Chunks chunks;

    [[nodiscard]] std::uint32_t blocks() const { return (chunks.count + tile.pixels - 1) / tile.pixels; }
};

/// What the output takes beside the sums.
enum class GatherEnd {
    activation,    ///< bias, then ReLU
    mask,          ///< 0 where x <= 0
    mask_and_sums, ///< 0 where a batch norm of x is not above 0; sums of a block for that batch norm's gradient
};

/// What GatherEnd reads and leaves.
struct GatherExtras {
    const float* bias = nullptr;
    DepthwiseInput x;          ///< where the outputs go back to
    float* partials = nullptr; ///< [blocks][2][pitch]: sums of the outputs, and of their products with x - mean
};

/// Of a convolution a pointer to T, of a gradient through an input what may be f32.
template <class T, GatherEnd End>
using GatherFilter = std::conditional_t<End == GatherEnd::activation, const T*, Weights>;

/// Window of K x K. A thread makes `Width` outputs of one row, whose inputs lie `Ratio` dilations apart; the columns
/// that they share are read once. The next rows are on their way while one is multiplied. Halves of 3x3 fit two blocks
/// a multiprocessor. X: the type of the outputs and of what masks them, T or float.
template <class T, class X, int K, int Ratio, int Width, InputForm Form, GatherEnd End>
__global__ void __launch_bounds__(gather_threads, K == 3 && sizeof(T) == 2 ? 2 : 0)
    gather_kernel(const T* in, const GatherFilter<T, End> filter, X* out, const GatherPlan plan,
                  const DepthwiseInput input, const GatherExtras extras) {
    constexpr int window = (Width - 1) * Ratio + K;
    extern __shared__ float4 weights[]; // [K*K][lanes], then sums
    const std::uint32_t lanes = plan.tile.lanes.value();
    std::uint32_t lane = threadIdx.x;
    const std::uint32_t pixel = plan.tile.lanes.split(lane);
    const std::uint32_t vector = blockIdx.y * lanes + lane;
    const std::uint32_t chunk = blockIdx.x * plan.tile.pixels + pixel;
    const bool active = vector < plan.tile.vectors && chunk < plan.chunks.count;

    const auto place = plan.chunks.at(active ? chunk : 0);
    const int first_row = static_cast<int>(place.row) * plan.stride_h - plan.padding_h;
    const int first_column = static_cast<int>(place.column) * plan.stride_w - plan.padding_w;
    std::uint32_t columns = 0;
#pragma unroll
    for (int i = 0; i < window; ++i)
        columns |=
            static_cast<unsigned>(first_column + i * plan.dilation_w) < static_cast<unsigned>(plan.in_w) ? 1U << i : 0U;
    const int step = plan.dilation_w * plan.pitch;
    const auto valid_in_row = [&](int r) {
        const int h = first_row + r * plan.dilation_h;
        return active && static_cast<unsigned>(h) < static_cast<unsigned>(plan.in_h) ? columns : 0U;
    };
    const auto load_row = [&](int r, Packed4<T>(&row)[window]) {
        const int h = first_row + r * plan.dilation_h;
        const std::uint32_t valid = valid_in_row(r);
        const T* from =
            in + ((static_cast<std::int64_t>(place.image) * plan.in_h + h) * plan.in_w + first_column) * plan.pitch +
            4 * vector;
#pragma unroll
        for (int i = 0; i < window; ++i)
            row[i] = valid >> i & 1U ? load_packed4(from + i * step) : Packed4<T>{};
    };
    const std::int64_t target =
        ((static_cast<std::int64_t>(place.image) * plan.out_h + place.row) * plan.out_w + place.column) * plan.pitch +
        4 * vector;
    const int spread = static_cast<int>(plan.chunks.spread.value());
    const auto inside = [&](int j) { return active && static_cast<int>(place.column) + j * spread < plan.out_w; };

    take_turn();
    constexpr int ahead = rows_ahead<T>(window, K);
    Packed4<T> rows[ahead + 1][window];
#pragma unroll
    for (int r = 0; r <= ahead; ++r)
        load_row(r, rows[r]);
    InputChannels channels{};
    if constexpr (Form == InputForm::normalised)
        channels = channels_of(input, active ? 4 * vector : 0);
    // What masks the outputs: before the sums where it takes few registers, else behind them.
    constexpr bool masked = End != GatherEnd::activation, masks_early = Width == 4;
    Packed4<X> masks[masked ? Width : 1];
    const auto load_masks = [&] {
        if constexpr (masked) {
#pragma unroll
            for (int j = 0; j < Width; ++j)
                masks[j] = inside(j)
                               ? load_packed4(static_cast<const X*>(extras.x.x) + target + j * spread * plan.pitch)
                               : Packed4<X>{};
            if constexpr (End == GatherEnd::mask_and_sums)
                channels = channels_of(extras.x, active ? 4 * vector : 0);
        }
    };
    if constexpr (masks_early)
        load_masks();
    if constexpr (masked)
        stage_weights<T, K>(filter, weights, plan.tile, plan.pitch, plan.flip);
    else
        stage_filter<K>(filter, weights, plan.tile, plan.pitch, plan.flip);
    if constexpr (End != GatherEnd::mask_and_sums)
        if (!active)
            return;

    float4 sums[Width] = {};
#pragma unroll
    for (int r = 0; r < K; ++r) {
        float4 w[K];
#pragma unroll
        for (int s = 0; s < K; ++s)
            w[s] = weights[(r * K + s) * lanes + lane];
        [[maybe_unused]] const std::uint32_t valid = Form == InputForm::normalised ? valid_in_row(r) : 0U;
#pragma unroll
        for (int i = 0; i < window; ++i) {
            float4 x = unpack4<T>(rows[r % (ahead + 1)][i]);
            if constexpr (Form == InputForm::relu)
                x = positive(x);
            if constexpr (Form == InputForm::normalised)
                x = valid >> i & 1U ? entered(x, channels, input.relu)
                                    : float4{}; // padding comes behind the batch norm
#pragma unroll
            for (int j = 0; j < Width; ++j)
                if (const int s = i - Ratio * j; s >= 0 && s < K)
                    multiply_add(sums[j], x, w[s]);
        }
        if (r + ahead + 1 < K)
            load_row(r + ahead + 1, rows[r % (ahead + 1)]);
    }

    if constexpr (!masks_early)
        load_masks();
    const float4 b = extras.bias == nullptr ? float4{} : load4(extras.bias + 4 * vector);
    float4 total{}, products{};
#pragma unroll
    for (int j = 0; j < Width; ++j) {
        if (!inside(j))
            continue;
        if constexpr (End == GatherEnd::activation) {
            add_to(sums[j], b);
            if (plan.relu)
                sums[j] =
                    make_float4(fmaxf(sums[j].x, 0), fmaxf(sums[j].y, 0), fmaxf(sums[j].z, 0), fmaxf(sums[j].w, 0));
        } else {
            const float4 x = rounded<T, X>(unpack4<X>(masks[j]));
            if constexpr (End == GatherEnd::mask)
                sums[j] = where_positive(x, sums[j]);
            else if (extras.x.relu)
                sums[j] = where_positive(normalised(x, channels), sums[j]);
            if constexpr (End == GatherEnd::mask_and_sums) {
                add_to(total, sums[j]);
                multiply_add(products, sums[j],
                             make_float4(x.x - channels.mean.x, x.y - channels.mean.y, x.z - channels.mean.z,
                                         x.w - channels.mean.w));
            }
        }
        store4(out + target + j * spread * plan.pitch, sums[j]);
    }
    if constexpr (End == GatherEnd::mask_and_sums) {
        sum_over_pixels(total, products, weights, pixel, plan.tile.pixels, lanes);
        if (pixel == 0 && vector < plan.tile.vectors) {
            float* to = extras.partials + static_cast<std::int64_t>(blockIdx.x) * 2 * plan.pitch + 4 * vector;
            store4(to, total);
            store4(to + plan.pitch, products);
        }
    }
}

/// `K` and `width`: of the kernel that is launched.
inline GatherPlan gather_plan(const Gather& g, int K, int width) {
    GatherPlan plan;
    const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
    plan.in_h = as_int(g.in[0]), plan.in_w = as_int(g.in[1]);
    plan.out_h = as_int(g.out[0]), plan.out_w = as_int(g.out[1]);
    plan.pitch = as_int(g.channels);
    plan.stride_h = as_int(g.stride[0]), plan.stride_w = as_int(g.stride[1]);
    plan.padding_h = as_int(g.padding[0]), plan.padding_w = as_int(g.padding[1]);
    plan.dilation_h = as_int(g.dilation[0]), plan.dilation_w = as_int(g.dilation[1]);
    plan.flip = g.flip, plan.relu = g.relu;
    plan.chunks = Chunks(g.n, g.out[0], g.out[1], width, g.dilation[1] / std::gcd(g.dilation[1], g.stride[1]));
    // The large windows take so many registers that only small blocks fill a multiprocessor.
    const int most = K > 3 && width == 8 ? gather_threads / 2 : gather_threads;
    plan.tile = Tile(g.channels, threads_for(plan.chunks.count * (g.channels / 4), most));
    return plan;
}

/// Outputs of a thread where the inputs of neighbours lie one dilation apart: eight reuse more, four keep more threads
/// busy.
inline int gather_width(const Gather& g) {
    const auto common = std::gcd(g.stride[1], g.dilation[1]);
    const auto threads = g.n * g.out[0] * ((g.out[1] + 7) / 8) * (g.channels / 4);
    return g.out[1] / (g.dilation[1] / common) > 4 && threads >= usual_multiprocessors * 2 * gather_threads ? 8 : 4;
}

/// Whether a window is one of those that are unrolled.
inline bool is_unrolled(const Gather& g) {
    const auto spread = g.dilation[1] / std::gcd(g.stride[1], g.dilation[1]);
    const auto reach = [&g](std::size_t axis) {
        return g.out[axis] * g.stride[axis] + std::abs(g.padding[axis]) + g.kernel[axis] * g.dilation[axis] +
               g.in[axis];
    };
    return g.kernel[0] == g.kernel[1] && spread <= 4 && fits_32_bits(g.n * g.out[0] * (g.out[1] + 8 * spread)) &&
           fits_32_bits(reach(0)) && fits_32_bits(reach(1)) &&
           fits_32_bits((reach(1) + 64 * g.dilation[1]) * g.channels) &&
           fits_32_bits(g.kernel[0] * g.kernel[1] * g.channels) && g.channels / 4 <= 16 * 65535;
}

template <class T, class X, int K, int Ratio, int Width, InputForm Form, GatherEnd End>
void enqueue_gather(const Gather& g, const void* in, const GatherFilter<T, End>& filter, void* out,
                    const DepthwiseInput& input, const GatherExtras& extras, const LaunchStream& stream) {
    const auto plan = gather_plan(g, K, Width);
    const auto threads = plan.tile.width * plan.tile.pixels;
    std::size_t vectors = static_cast<std::size_t>(K) * K * plan.tile.width;
    if (End == GatherEnd::mask_and_sums)
        vectors = std::max(vectors, std::size_t{2} * threads);
    enqueue(gather_kernel<T, X, K, Ratio, Width, Form, End>, dim3(plan.blocks(), plan.tile.slabs), dim3(threads),
            vectors * sizeof(float4), stream, static_cast<const T*>(in), filter, static_cast<X*>(out), plan, input,
            extras);
}

} // namespace espalier::cuda
