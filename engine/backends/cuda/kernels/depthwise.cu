// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/depthwise.h"
#include "backends/cuda/kernels/depthwise_gather.h"
#include "backends/cuda/kernels/depthwise_tile.cuh"

#include <numeric>

namespace espalier::cuda {
namespace {

constexpr int most_threads = 256;

/// A gather with a thread's place in it.
struct Plan {
    int in_h = 1, in_w = 1, out_h = 1, out_w = 1, pitch = 8;
    int stride_h = 1, stride_w = 1, padding_h = 0, padding_w = 0, dilation_h = 1, dilation_w = 1;
    bool flip = false, relu = false;
    Tile tile;
    Chunks chunks;
};

/// Window of K x K. A thread makes `Width` outputs of one row, whose inputs lie `Ratio` dilations apart; the columns
/// that they share are read once. The next rows are on their way while one is multiplied.
template <class T, int K, int Ratio, int Width>
__global__ void __launch_bounds__(most_threads)
    gather_kernel(const T* __restrict__ in, const T* __restrict__ filter, const float* __restrict__ bias,
                  T* __restrict__ out, const Plan plan) {
    constexpr int window = (Width - 1) * Ratio + K;
    extern __shared__ float4 weights[]; // [K*K][lanes]
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
    const auto load_row = [&](int r, Packed4<T>(&row)[window]) {
        const int h = first_row + r * plan.dilation_h;
        const std::uint32_t valid =
            active && static_cast<unsigned>(h) < static_cast<unsigned>(plan.in_h) ? columns : 0U;
        const T* from =
            in + ((static_cast<std::int64_t>(place.image) * plan.in_h + h) * plan.in_w + first_column) * plan.pitch +
            4 * vector;
#pragma unroll
        for (int i = 0; i < window; ++i)
            row[i] = valid >> i & 1U ? load_packed4(from + i * step) : Packed4<T>{};
    };
    constexpr int ahead = rows_ahead<T>(window, K);
    Packed4<T> rows[ahead + 1][window];
#pragma unroll
    for (int r = 0; r <= ahead; ++r)
        load_row(r, rows[r]);
    stage_filter<K>(filter, weights, plan.tile, plan.pitch, plan.flip);
    if (!active)
        return;

    float4 sums[Width] = {};
#pragma unroll
    for (int r = 0; r < K; ++r) {
        float4 w[K];
#pragma unroll
        for (int s = 0; s < K; ++s)
            w[s] = weights[(r * K + s) * lanes + lane];
#pragma unroll
        for (int i = 0; i < window; ++i) {
            const float4 x = unpack4<T>(rows[r % (ahead + 1)][i]);
#pragma unroll
            for (int j = 0; j < Width; ++j)
                if (const int s = i - Ratio * j; s >= 0 && s < K)
                    multiply_add(sums[j], x, w[s]);
        }
        if (r + ahead + 1 < K)
            load_row(r + ahead + 1, rows[r % (ahead + 1)]);
    }

    const float4 b = bias == nullptr ? float4{} : load4(bias + 4 * vector);
    const int spread = static_cast<int>(plan.chunks.spread.value());
    T* to =
        out +
        ((static_cast<std::int64_t>(place.image) * plan.out_h + place.row) * plan.out_w + place.column) * plan.pitch +
        4 * vector;
#pragma unroll
    for (int j = 0; j < Width; ++j) {
        if (static_cast<int>(place.column) + j * spread >= plan.out_w)
            continue;
        add_to(sums[j], b);
        if (plan.relu)
            sums[j] = make_float4(fmaxf(sums[j].x, 0), fmaxf(sums[j].y, 0), fmaxf(sums[j].z, 0), fmaxf(sums[j].w, 0));
        store4(to + j * spread * plan.pitch, sums[j]);
    }
}

/// Any window: one output of four channels a thread, row by row so that large windows stay exact.
template <class T>
__global__ void any_gather_kernel(const T* __restrict__ in, const T* __restrict__ filter,
                                  const float* __restrict__ bias, T* __restrict__ out, const Gather g) {
    const std::int64_t vectors = g.channels / 4, count = g.n * g.out[0] * g.out[1] * vectors;
    for (auto i = grid_index(); i < count; i += grid_size()) {
        const auto channel = i % vectors * 4;
        auto rest = i / vectors;
        const auto q = rest % g.out[1];
        rest /= g.out[1];
        const auto p = rest % g.out[0], image = rest / g.out[0];
        float4 sum{};
        for (std::int64_t r = 0; r < g.kernel[0]; ++r) {
            const auto h = p * g.stride[0] - g.padding[0] + r * g.dilation[0];
            if (h < 0 || h >= g.in[0])
                continue;
            float4 row{};
            for (std::int64_t s = 0; s < g.kernel[1]; ++s) {
                const auto w = q * g.stride[1] - g.padding[1] + s * g.dilation[1];
                if (w < 0 || w >= g.in[1])
                    continue;
                const auto tap = r * g.kernel[1] + s;
                const auto taken = g.flip ? g.kernel[0] * g.kernel[1] - 1 - tap : tap;
                multiply_add(row, load4(in + ((image * g.in[0] + h) * g.in[1] + w) * g.channels + channel),
                             load4(filter + taken * g.channels + channel));
            }
            add_to(sum, row);
        }
        if (bias != nullptr)
            add_to(sum, load4(bias + channel));
        if (g.relu)
            sum = make_float4(fmaxf(sum.x, 0), fmaxf(sum.y, 0), fmaxf(sum.z, 0), fmaxf(sum.w, 0));
        store4(out + i * 4, sum);
    }
}

struct Pointers {
    const void *in, *filter;
    const float* bias;
    void* out;
};

template <class T, int K, int Ratio, int Width>
void launch(const Gather& g, const Pointers& at, cudaStream_t stream) {
    Plan plan;
    const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
    plan.in_h = as_int(g.in[0]), plan.in_w = as_int(g.in[1]);
    plan.out_h = as_int(g.out[0]), plan.out_w = as_int(g.out[1]);
    plan.pitch = as_int(g.channels);
    plan.stride_h = as_int(g.stride[0]), plan.stride_w = as_int(g.stride[1]);
    plan.padding_h = as_int(g.padding[0]), plan.padding_w = as_int(g.padding[1]);
    plan.dilation_h = as_int(g.dilation[0]), plan.dilation_w = as_int(g.dilation[1]);
    plan.flip = g.flip, plan.relu = g.relu;
    plan.chunks = Chunks(g.n, g.out[0], g.out[1], Width, g.dilation[1] / std::gcd(g.dilation[1], g.stride[1]));
    // The large windows take so many registers that only small blocks fill a multiprocessor.
    constexpr int most = K > 3 && Width == 8 ? most_threads / 2 : most_threads;
    plan.tile = Tile(g.channels, threads_for(plan.chunks.count * (g.channels / 4), most));
    const dim3 grid((plan.chunks.count + plan.tile.pixels - 1) / plan.tile.pixels, plan.tile.slabs);
    gather_kernel<T, K, Ratio, Width>
        <<<grid, plan.tile.width * plan.tile.pixels, K * K * plan.tile.width * sizeof(float4), stream>>>(
            static_cast<const T*>(at.in), static_cast<const T*>(at.filter), at.bias, static_cast<T*>(at.out), plan);
}

template <class T, int K>
bool launch_unrolled(const Gather& g, const Pointers& at, cudaStream_t stream) {
    const auto common = std::gcd(g.stride[1], g.dilation[1]);
    const auto ratio = g.stride[1] / common;
    if (ratio == 2) {
        launch<T, K, 2, 4>(g, at, stream);
        return true;
    }
    if (ratio != 1)
        return false;
    // Eight outputs a thread reuse more; four keep more threads busy.
    const auto threads = g.n * g.out[0] * ((g.out[1] + 7) / 8) * (g.channels / 4);
    if (g.out[1] / (g.dilation[1] / common) > 4 && threads >= usual_multiprocessors * 2 * most_threads)
        launch<T, K, 1, 8>(g, at, stream);
    else
        launch<T, K, 1, 4>(g, at, stream);
    return true;
}

/// Whether a window is one of those that are unrolled.
bool is_unrolled(const Gather& g) {
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

} // namespace

void launch_gather(const Gather& g, const void* in, const void* filter, const float* bias, void* out,
                   cudaStream_t stream) {
    const Pointers at{in, filter, bias, out};
    with_type(g.type, [&](auto element) {
        using T = decltype(element);
        if (is_unrolled(g)) {
            if (g.kernel[0] == 3 && launch_unrolled<T, 3>(g, at, stream))
                return;
            if (g.kernel[0] == 5 && launch_unrolled<T, 5>(g, at, stream))
                return;
            if (g.kernel[0] == 7 && launch_unrolled<T, 7>(g, at, stream))
                return;
        }
        any_gather_kernel<<<blocks_for(g.n * g.out[0] * g.out[1] * g.channels / 4, most_threads), most_threads, 0,
                            stream>>>(static_cast<const T*>(in), static_cast<const T*>(filter), bias,
                                      static_cast<T*>(out), g);
    });
}

void launch_depthwise(const Depthwise& shape, const void* x, const void* filter, const float* bias, bool relu, void* y,
                      cudaStream_t stream) {
    launch_gather({.n = shape.n,
                   .in = shape.x,
                   .out = shape.y,
                   .channels = shape.channels,
                   .kernel = shape.kernel,
                   .stride = shape.stride,
                   .padding = shape.padding,
                   .dilation = shape.dilation,
                   .flip = false,
                   .relu = relu,
                   .type = shape.type},
                  x, filter, bias, y, stream);
}

std::string window_text(const Depthwise& shape) {
    const auto pair = [](const std::array<std::int64_t, 2>& values) {
        return values[0] == values[1] ? std::to_string(values[0])
                                      : std::to_string(values[0]) + "," + std::to_string(values[1]);
    };
    std::string text = std::to_string(shape.kernel[0]) + "x" + std::to_string(shape.kernel[1]);
    if (shape.stride[0] != 1 || shape.stride[1] != 1)
        text += " stride " + pair(shape.stride);
    if (shape.dilation[0] != 1 || shape.dilation[1] != 1)
        text += " dilation " + pair(shape.dilation);
    return text;
}

} // namespace espalier::cuda
