// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/channel_tiles.cuh"
#include "backends/cuda/kernels/normalization.h"

namespace espalier::cuda {
namespace {

/// Fewer rows at once than in the forward: up to three tensors are read.
template <class T>
inline constexpr int gradient_batch = row_batch<T> / 2;

/// Sums over this thread's rows: a of the masked gy, b of its products with x - mean. Leaves the masked gy in
/// gresidual.
template <class T>
__device__ void thread_sums(const NormalizeGradient& g, const ChannelTiles& t, const Place& p, Eight& a, Eight& b) {
    constexpr int some = gradient_batch<T>;
    const T *x = static_cast<const T*>(g.x), *gy = static_cast<const T*>(g.gy), *y = static_cast<const T*>(g.y);
    T* gresidual = static_cast<T*>(g.gresidual);
    a = {};
    b = {};
    if (!p.active)
        return;
    const Eight mean = load8(g.mean + p.channel);
    for (int row = p.begin + p.lane; row < p.end; row += some * p.lanes) {
        const int valid = rows_left(row, p.end, p.lanes, some);
        Eight vx[some], vg[some], vy[some];
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (u < valid) {
                const auto at = offset_of(t, p, row + u * p.lanes);
                vx[u] = load8(x + at);
                vg[u] = load8(gy + at);
                if (y != nullptr)
                    vy[u] = load8(y + at);
            }
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (u < valid) {
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    if (y != nullptr && !(vy[u].v[j] > 0.0F))
                        vg[u].v[j] = 0.0F;
                    a.v[j] += vg[u].v[j];
                    b.v[j] = fmaf(vg[u].v[j], vx[u].v[j] - mean.v[j], b.v[j]);
                }
                if (gresidual != nullptr)
                    store8(gresidual + offset_of(t, p, row + u * p.lanes), vg[u]);
            }
    }
}

/// gx = scale (g - offset - (x - mean) slope), by channel.
struct GradientMemory {
    alignas(16) float mean[most_tile_width];
    alignas(16) float scale[most_tile_width];
    alignas(16) float offset[most_tile_width];
    alignas(16) float slope[most_tile_width];
};

/// From the sums over the whole batch, in the threads below the tile's width: gweight and gbias, written by the first
/// slice, and the coefficients of gx. Ioffe and Szegedy, "Batch Normalization" (2015), section 3.
__device__ void finish_sums(const NormalizeGradient& g, const ChannelTiles& t, const Place& p, const Partial& sums,
                            GradientMemory& memory) {
    const int thread = static_cast<int>(threadIdx.x);
    const int channel = static_cast<int>(blockIdx.x) * 8 * t.groups + thread;
    if (thread < 8 * t.groups && channel < t.pitch) {
        const float inv_std = g.inv_std[channel];
        const auto count = static_cast<float>(t.rows);
        const float gweight = sums.b * inv_std;
        memory.mean[thread] = g.mean[channel];
        memory.scale[thread] = inv_std * (g.weight != nullptr ? g.weight[channel] : 1.0F);
        memory.offset[thread] = sums.a / count;
        memory.slope[thread] = inv_std * gweight / count;
        if (p.slice == 0) {
            if (g.gweight != nullptr)
                g.gweight[channel] = gweight;
            if (g.gbias != nullptr)
                g.gbias[channel] = sums.a;
        }
    }
    __syncthreads();
}

/// gx may be x, gy or y: each thread reads its rows before it writes them.
template <class T>
__device__ void write_gx(const NormalizeGradient& g, const ChannelTiles& t, const Place& p,
                         const GradientMemory& memory) {
    constexpr int some = gradient_batch<T>;
    if (g.gx == nullptr || !p.active)
        return;
    // What thread_sums left in gresidual is masked already.
    const bool masked = g.gresidual != nullptr || g.y == nullptr;
    const T *x = static_cast<const T*>(g.x), *y = static_cast<const T*>(g.y);
    const T* gy = static_cast<const T*>(g.gresidual != nullptr ? g.gresidual : g.gy);
    T* gx = static_cast<T*>(g.gx);
    const Eight mean = load8(memory.mean + p.column), scale = load8(memory.scale + p.column);
    const Eight offset = load8(memory.offset + p.column), slope = load8(memory.slope + p.column);
    for (int row = p.begin + p.lane; row < p.end; row += some * p.lanes) {
        const int valid = rows_left(row, p.end, p.lanes, some);
        Eight vx[some], vg[some], vy[some];
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (u < valid) {
                const auto at = offset_of(t, p, row + u * p.lanes);
                vx[u] = load8(x + at);
                vg[u] = load8(gy + at);
                if (!masked)
                    vy[u] = load8(y + at);
            }
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (u < valid) {
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    const float value = masked || vy[u].v[j] > 0.0F ? vg[u].v[j] : 0.0F;
                    vg[u].v[j] = scale.v[j] * (value - offset.v[j] - (vx[u].v[j] - mean.v[j]) * slope.v[j]);
                }
                store8(gx + offset_of(t, p, row + u * p.lanes), vg[u]);
            }
    }
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    gradient_sums_kernel(NormalizeGradient g, ChannelTiles t, float* partials) {
    __shared__ ReductionMemory memory;
    const auto p = place_of(t);
    Eight a, b;
    thread_sums<T>(g, t, p, a, b);
    store_partial(t, p, merge_lanes<Sums>(t, p, a, b, memory), partials);
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    gradient_end_kernel(NormalizeGradient g, ChannelTiles t, const float* partials) {
    __shared__ ReductionMemory memory;
    __shared__ GradientMemory coefficients;
    const auto p = place_of(t);
    finish_sums(g, t, p, merge_partials<Sums>(t, partials, memory), coefficients);
    write_gx<T>(g, t, p, coefficients);
}

template <class T>
__global__ void __launch_bounds__(tile_threads) gradient_cluster_kernel(NormalizeGradient g, ChannelTiles t) {
    __shared__ ReductionMemory memory;
    __shared__ GradientMemory coefficients;
    const auto p = place_of(t);
    Eight a, b;
    thread_sums<T>(g, t, p, a, b);
    const auto own = merge_lanes<Sums>(t, p, a, b, memory);
    finish_sums(g, t, p, merge_cluster<Sums>(t, own, memory), coefficients);
    write_gx<T>(g, t, p, coefficients);
    leave_cluster(t);
}

template <class T>
__device__ Partial sum_slice(const T* x, const ChannelTiles& t, const Place& p, ReductionMemory& memory) {
    constexpr int some = row_batch<T>;
    Eight sum{};
    for (int row = p.begin + p.lane; row < p.end; row += some * p.lanes) {
        const int valid = rows_left(row, p.end, p.lanes, some);
        Eight v[some];
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (u < valid)
                v[u] = load8(x + offset_of(t, p, row + u * p.lanes));
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (u < valid)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    sum.v[j] += v[u].v[j];
    }
    return merge_lanes<Sums>(t, p, sum, Eight{}, memory);
}

__device__ void store_sum(const ChannelTiles& t, const Partial& sum, float* result) {
    const int thread = static_cast<int>(threadIdx.x);
    const int channel = static_cast<int>(blockIdx.x) * 8 * t.groups + thread;
    if (blockIdx.y == 0 && thread < 8 * t.groups && channel < t.pitch)
        result[channel] = sum.a;
}

template <class T>
__global__ void __launch_bounds__(tile_threads) channel_sum_kernel(const T* x, ChannelTiles t, float* partials) {
    __shared__ ReductionMemory memory;
    const auto p = place_of(t);
    store_partial(t, p, sum_slice(x, t, p, memory), partials);
}

__global__ void __launch_bounds__(tile_threads)
    channel_sum_end_kernel(ChannelTiles t, const float* partials, float* result) {
    __shared__ ReductionMemory memory;
    store_sum(t, merge_partials<Sums>(t, partials, memory), result);
}

template <class T>
__global__ void __launch_bounds__(tile_threads) channel_sum_cluster_kernel(const T* x, ChannelTiles t, float* result) {
    __shared__ ReductionMemory memory;
    const auto p = place_of(t);
    const auto own = sum_slice(x, t, p, memory);
    store_sum(t, merge_cluster<Sums>(t, own, memory), result);
    leave_cluster(t);
}

} // namespace

void launch_batch_norm_gradient(const NormalizeGradient& g, const ChannelTiles& t, float* partials,
                                cudaStream_t stream) {
    with_type(g.type, [&](auto element) {
        using T = decltype(element);
        if (t.clustered) {
            launch_tiles(gradient_cluster_kernel<T>, t, stream, g, t);
            return;
        }
        launch_tiles(gradient_sums_kernel<T>, t, stream, g, t, partials);
        launch_tiles(gradient_end_kernel<T>, t, stream, g, t, partials);
    });
}

void launch_channel_sum(const void* x, float* result, DType type, const ChannelTiles& t, float* partials,
                        cudaStream_t stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        if (t.clustered) {
            launch_tiles(channel_sum_cluster_kernel<T>, t, stream, static_cast<const T*>(x), t, result);
            return;
        }
        launch_tiles(channel_sum_kernel<T>, t, stream, static_cast<const T*>(x), t, partials);
        channel_sum_end_kernel<<<static_cast<unsigned>(t.tiles), tile_threads, 0, stream>>>(t, partials, result);
    });
}

} // namespace espalier::cuda
