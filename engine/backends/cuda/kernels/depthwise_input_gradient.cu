// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/depthwise.h"
#include "backends/cuda/kernels/depthwise_gather.h"
#include "backends/cuda/kernels/depthwise_rows.h"
#include "backends/cuda/kernels/depthwise_tile.cuh"
#include "backends/cuda/kernels/overlap.cuh"

namespace espalier::cuda {
namespace {

constexpr int most_threads = 256;

struct Plan {
    int gx_h = 1, gx_w = 1, gy_h = 1, gy_w = 1, pitch = 8;
    int padding_h = 0, padding_w = 0;
    Tile tile;
    Chunks chunks; ///< of pairs of columns of gx
};

/// Stride 2, dilation 1 or 2. With u = column + padding, gx(u) = sum of filter(s) gy((u - s dilation) / 2) over the s
/// that leave an even difference. Dilation 1: even u meet even s alone, odd u odd s. Dilation 2: even u meet all, odd u
/// none. A thread makes `Pairs` pairs of columns of one row, so that no product is with a zero in between; `Odd` is the
/// padding's parity, which says whether a pair begins with an even u.
template <class T, int K, int Dilation, int Odd, int Pairs>
__global__ void __launch_bounds__(most_threads)
    stride_2_kernel(const T* gy, const T* filter, const float* bias, T* gx, const Plan plan) {
    constexpr int reach = Dilation == 1 ? (K - 1) / 2 : K - 1; // gy(m - reach) ... gy(m) meet u = 2m and 2m + 1
    constexpr int window = Pairs + reach + Odd;
    extern __shared__ float4 weights[]; // [K*K][lanes]
    const std::uint32_t lanes = plan.tile.lanes.value();
    std::uint32_t lane = threadIdx.x;
    const std::uint32_t pixel = plan.tile.lanes.split(lane);
    const std::uint32_t vector = blockIdx.y * lanes + lane;
    const std::uint32_t chunk = blockIdx.x * plan.tile.pixels + pixel;
    const bool active = vector < plan.tile.vectors && chunk < plan.chunks.count;

    const auto place = plan.chunks.at(active ? chunk : 0);
    const int first_column = static_cast<int>(place.column) + (plan.padding_w >> 1) - reach;
    std::uint32_t columns = 0;
#pragma unroll
    for (int i = 0; i < window; ++i)
        columns |= static_cast<unsigned>(first_column + i) < static_cast<unsigned>(plan.gy_w) ? 1U << i : 0U;

    const int u = static_cast<int>(place.row) + plan.padding_h, odd_row = u & 1, m = u >> 1;
    // The t-th row of gy that meets this row of gx, and of the filter.
    const auto tap_row = [odd_row](int t) { return Dilation == 1 ? odd_row + 2 * t : odd_row == 0 ? t : K; };
    const auto load_row = [&](int t, Packed4<T>(&row)[window]) {
        const int h = m - t;
        const std::uint32_t valid =
            active && tap_row(t) < K && static_cast<unsigned>(h) < static_cast<unsigned>(plan.gy_h) ? columns : 0U;
        const T* from =
            gy + ((static_cast<std::int64_t>(place.image) * plan.gy_h + h) * plan.gy_w + first_column) * plan.pitch +
            4 * vector;
#pragma unroll
        for (int i = 0; i < window; ++i)
            row[i] = valid >> i & 1U ? load_packed4(from + i * plan.pitch) : Packed4<T>{};
    };
    take_turn();
    constexpr int ahead = rows_ahead<T>(window, reach + 1);
    Packed4<T> rows[ahead + 1][window];
#pragma unroll
    for (int t = 0; t <= ahead; ++t)
        load_row(t, rows[t]);
    stage_filter<K>(filter, weights, plan.tile, plan.pitch, false);
    if (!active)
        return;

    float4 sums[2 * Pairs] = {};
#pragma unroll
    for (int t = 0; t <= reach; ++t) {
        if (const int r = tap_row(t); r < K) {
            float4 w[K];
#pragma unroll
            for (int s = 0; s < K; ++s)
                w[s] = weights[(r * K + s) * lanes + lane];
#pragma unroll
            for (int i = 0; i < window; ++i) {
                const float4 y = unpack4<T>(rows[t % (ahead + 1)][i]);
#pragma unroll
                for (int j = 0; j < 2 * Pairs; ++j) {
                    const int from_even = j % 2 + Odd, odd = from_even & 1;
                    const int back = j / 2 + (from_even >> 1) + reach - i; // the m of this column less that of gy
                    const int s = Dilation == 1 ? odd + 2 * back : odd == 0 ? back : K;
                    if (back >= 0 && s < K)
                        multiply_add(sums[j], y, w[s]);
                }
            }
        }
        if (t + ahead + 1 <= reach)
            load_row(t + ahead + 1, rows[t % (ahead + 1)]);
    }

    const float4 b = bias == nullptr ? float4{} : load4(bias + 4 * vector);
    const int column = 2 * static_cast<int>(place.column);
    T* to = gx + ((static_cast<std::int64_t>(place.image) * plan.gx_h + place.row) * plan.gx_w + column) * plan.pitch +
            4 * vector;
#pragma unroll
    for (int j = 0; j < 2 * Pairs; ++j) {
        if (column + j >= plan.gx_w)
            continue;
        add_to(sums[j], b);
        store4(to + j * plan.pitch, sums[j]);
    }
}

/// Any window: four channels of one pixel a thread.
template <class T>
__global__ void any_input_gradient_kernel(const T* gy, const T* filter, const float* bias, T* gx, const Depthwise d) {
    const std::int64_t vectors = d.channels / 4, count = d.n * d.x[0] * d.x[1] * vectors;
    take_turn();
    for (auto i = grid_index(); i < count; i += grid_size()) {
        const auto channel = i % vectors * 4;
        auto rest = i / vectors;
        const auto w = rest % d.x[1];
        rest /= d.x[1];
        const auto h = rest % d.x[0], image = rest / d.x[0];
        float4 sum{};
        for (std::int64_t r = 0; r < d.kernel[0]; ++r) {
            const auto u = h + d.padding[0] - r * d.dilation[0];
            const auto p = u / d.stride[0];
            if (u < 0 || u % d.stride[0] != 0 || p >= d.y[0])
                continue;
            float4 row{};
            for (std::int64_t s = 0; s < d.kernel[1]; ++s) {
                const auto v = w + d.padding[1] - s * d.dilation[1];
                const auto q = v / d.stride[1];
                if (v < 0 || v % d.stride[1] != 0 || q >= d.y[1])
                    continue;
                multiply_add(row, load4(gy + ((image * d.y[0] + p) * d.y[1] + q) * d.channels + channel),
                             load4(filter + (r * d.kernel[1] + s) * d.channels + channel));
            }
            add_to(sum, row);
        }
        if (bias != nullptr)
            add_to(sum, load4(bias + channel));
        store4(gx + i * 4, sum);
    }
}

struct Pointers {
    const void *gy, *filter;
    const float* bias;
    void* gx;
};

template <class T, int K, int Dilation, int Odd>
void launch(const Depthwise& d, const Pointers& at, const LaunchStream& stream) {
    constexpr int pairs = 4;
    Plan plan;
    const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
    plan.gx_h = as_int(d.x[0]), plan.gx_w = as_int(d.x[1]);
    plan.gy_h = as_int(d.y[0]), plan.gy_w = as_int(d.y[1]);
    plan.pitch = as_int(d.channels);
    plan.padding_h = as_int(d.padding[0]), plan.padding_w = as_int(d.padding[1]);
    plan.chunks = Chunks(d.n, d.x[0], (d.x[1] + 1) / 2, pairs, 1);
    plan.tile = Tile(d.channels, threads_for(plan.chunks.count * (d.channels / 4), most_threads));
    const dim3 grid((plan.chunks.count + plan.tile.pixels - 1) / plan.tile.pixels, plan.tile.slabs);
    enqueue(stride_2_kernel<T, K, Dilation, Odd, pairs>, grid, dim3(plan.tile.width * plan.tile.pixels),
            K * K * plan.tile.width * sizeof(float4), stream, static_cast<const T*>(at.gy),
            static_cast<const T*>(at.filter), at.bias, static_cast<T*>(at.gx), plan);
}

template <class T, int K>
void launch_stride_2(const Depthwise& d, const Pointers& at, const LaunchStream& stream) {
    const bool odd = d.padding[1] % 2 != 0;
    if (d.dilation[0] == 1)
        odd ? launch<T, K, 1, 1>(d, at, stream) : launch<T, K, 1, 0>(d, at, stream);
    else
        odd ? launch<T, K, 2, 1>(d, at, stream) : launch<T, K, 2, 0>(d, at, stream);
}

using Pair = std::array<std::int64_t, 2>;

bool is_unrolled(const Depthwise& d) {
    const auto k = d.kernel[0];
    return (k == 3 || k == 5 || k == 7) && d.kernel[1] == k && d.stride == Pair{2, 2} &&
           (d.dilation == Pair{1, 1} || d.dilation == Pair{2, 2}) && fits_32_bits(d.n * d.x[0] * (d.x[1] + 8)) &&
           fits_32_bits((d.x[1] + 32 + d.padding[1]) * d.channels) && fits_32_bits(d.x[0] + d.padding[0]) &&
           fits_32_bits(k * k * d.channels) && d.channels / 4 <= 16 * 65535;
}

} // namespace

Gather input_gradient_gather(const Depthwise& d) {
    Pair padding{};
    for (std::size_t axis = 0; axis < 2; ++axis)
        padding[axis] = (d.kernel[axis] - 1) * d.dilation[axis] - d.padding[axis];
    return {.n = d.n,
            .in = d.y,
            .out = d.x,
            .channels = d.channels,
            .kernel = d.kernel,
            .stride = d.stride,
            .padding = padding,
            .dilation = d.dilation,
            .flip = true,
            .relu = false,
            .type = d.type};
}

void launch_depthwise_input_gradient(const Depthwise& d, const void* gy, const void* filter, const float* bias,
                                     void* gx, const LaunchStream& stream) {
    if (const auto rows = bias == nullptr ? depthwise_rows(d) : std::nullopt)
        return launch_depthwise_rows(d, *rows, gy, {}, {filter}, gx, nullptr, stream);
    if (d.stride == Pair{1, 1})
        return launch_gather(input_gradient_gather(d), gy, filter, bias, gx, stream);
    const Pointers at{gy, filter, bias, gx};
    with_type(d.type, [&](auto element) {
        using T = decltype(element);
        if (is_unrolled(d)) {
            switch (d.kernel[0]) {
            case 3:
                return launch_stride_2<T, 3>(d, at, stream);
            case 5:
                return launch_stride_2<T, 5>(d, at, stream);
            default:
                return launch_stride_2<T, 7>(d, at, stream);
            }
        }
        enqueue(any_input_gradient_kernel<T>, dim3(blocks_for(d.n * d.x[0] * d.x[1] * d.channels / 4, most_threads)),
                dim3(most_threads), 0, stream, static_cast<const T*>(gy), static_cast<const T*>(filter), bias,
                static_cast<T*>(gx), d);
    });
}

} // namespace espalier::cuda
