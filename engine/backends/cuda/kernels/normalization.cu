// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/channel_tiles.cuh"
#include "backends/cuda/kernels/normalization.h"

namespace espalier::cuda {
namespace {

/// Rows that a thread loads before it uses the first, so that it waits for memory once.
template <class T>
inline constexpr int rows_at_once = sizeof(T) == 2 ? 4 : 2;

/// Mean, and sum of squared distances from it, of this thread's rows. Sums of distances from the mean of its first few
/// rows: these are never further from the mean than the values spread, so that little cancels.
template <class T>
__device__ void thread_moments(const T* x, const ChannelTiles& t, const Place& p, Eight& mean, Eight& squares) {
    constexpr int some = rows_at_once<T>;
    const auto step = step_of(t, p);
    auto at = first_of(t, p);
    Eight shift{}, sum{}, square{};
    float n = 0;
    for (int row = p.begin + p.lane; row < p.end; row += some * p.lanes, at += some * step) {
        Packed<T> packed[some];
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (row + u * p.lanes < p.end)
                packed[u] = load_packed(x + at + u * step);
        if (n == 0.0F) {
            float valid = 0;
#pragma unroll
            for (int u = 0; u < some; ++u)
                if (row + u * p.lanes < p.end) {
                    const Eight v = unpack(packed[u]);
                    valid += 1.0F;
#pragma unroll
                    for (int j = 0; j < 8; ++j)
                        shift.v[j] += v.v[j];
                }
            const float share = 1.0F / valid;
#pragma unroll
            for (int j = 0; j < 8; ++j)
                shift.v[j] *= share;
        }
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (row + u * p.lanes < p.end) {
                const Eight v = unpack(packed[u]);
                n += 1.0F;
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    const float distance = v.v[j] - shift.v[j];
                    sum.v[j] += distance;
                    square.v[j] = fmaf(distance, distance, square.v[j]);
                }
            }
    }
    const float share = n > 0.0F ? 1.0F / n : 0.0F;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        const float offset = sum.v[j] * share;
        mean.v[j] = shift.v[j] + offset;
        squares.v[j] = fmaxf(square.v[j] - sum.v[j] * offset, 0.0F);
    }
}

/// y = (x - mean) scale + bias, by channel.
struct Affine {
    Eight mean, scale, bias;
};

/// y may be x or residual: each thread reads its rows before it writes them.
template <class T, bool with_residual>
__device__ void apply_rows(const NormalizeRows& rows, const ChannelTiles& t, const Place& p, const Affine& affine) {
    constexpr int some = with_residual ? rows_at_once<T> / 2 : rows_at_once<T>;
    const auto step = step_of(t, p);
    const T *x = static_cast<const T*>(rows.x), *residual = static_cast<const T*>(rows.residual);
    T* y = static_cast<T*>(rows.y);
    auto at = first_of(t, p);
    for (int row = p.begin + p.lane; row < p.end; row += some * p.lanes, at += some * step) {
        Packed<T> packed[some], added[some];
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (row + u * p.lanes < p.end) {
                packed[u] = load_packed(x + at + u * step);
                if constexpr (with_residual)
                    added[u] = load_packed(residual + at + u * step);
            }
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (row + u * p.lanes < p.end) {
                Eight v = unpack(packed[u]);
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    v.v[j] = fmaf(v.v[j] - affine.mean.v[j], affine.scale.v[j], affine.bias.v[j]);
                if constexpr (with_residual) {
                    const Eight r = unpack(added[u]);
#pragma unroll
                    for (int j = 0; j < 8; ++j)
                        v.v[j] += r.v[j];
                }
                if (rows.relu)
#pragma unroll
                    for (int j = 0; j < 8; ++j)
                        v.v[j] = v.v[j] < 0.0F ? 0.0F : v.v[j]; // NaN stays
                store8(y + at + u * step, v);
            }
    }
}

template <class T>
__device__ void apply_rows(const NormalizeRows& rows, const ChannelTiles& t, const Place& p, const Affine& affine) {
    if (rows.residual != nullptr)
        apply_rows<T, true>(rows, t, p, affine);
    else
        apply_rows<T, false>(rows, t, p, affine);
}

/// A tile's coefficients on their way from the threads that merged them to those that use them.
struct AffineMemory {
    alignas(16) float mean[most_tile_width];
    alignas(16) float scale[most_tile_width];
    alignas(16) float bias[most_tile_width];
};

/// From the moments of the whole batch, in the threads below the tile's width: the statistics, written by the first
/// slice, and every thread's coefficients.
__device__ Affine finish_statistics(const NormalizeRows& rows, const BatchStatistics& s, const ChannelTiles& t,
                                    const Place& p, const Partial& moments, AffineMemory& memory) {
    const int thread = static_cast<int>(threadIdx.x);
    const int channel = static_cast<int>(blockIdx.x) * 8 * t.groups + thread;
    if (thread < 8 * t.groups && channel < t.pitch) {
        const bool real = channel < t.channels; // padding stays zero
        const auto count = static_cast<float>(t.rows);
        const float variance = moments.b / count;
        const float inv_std = real ? 1.0F / sqrtf(variance + s.eps) : 0.0F;
        memory.mean[thread] = moments.a;
        memory.scale[thread] = inv_std * (rows.weight != nullptr ? rows.weight[channel] : 1.0F);
        memory.bias[thread] = rows.bias != nullptr ? rows.bias[channel] : 0.0F;
        if (p.slice == 0) {
            if (s.mean != nullptr)
                s.mean[channel] = moments.a;
            if (s.inv_std != nullptr)
                s.inv_std[channel] = inv_std;
            if (s.running_mean != nullptr && real) {
                const float unbiased = moments.b / (count > 1.0F ? count - 1.0F : 1.0F);
                s.running_mean[channel] = (1.0F - s.momentum) * s.old_mean[channel] + s.momentum * moments.a;
                s.running_var[channel] = (1.0F - s.momentum) * s.old_var[channel] + s.momentum * unbiased;
            }
        }
    }
    __syncthreads();
    return {load8(memory.mean + p.column), load8(memory.scale + p.column), load8(memory.bias + p.column)};
}

template <class T>
__global__ void __launch_bounds__(tile_threads, 2) moments_kernel(const T* x, ChannelTiles t, float* partials) {
    __shared__ ReductionMemory memory;
    const auto p = place_of(t);
    take_turn();
    Eight mean, squares;
    thread_moments(x, t, p, mean, squares);
    store_partial(t, p, merge_lanes<Moments>(t, p, mean, squares, memory), partials);
}

/// `from`: how the rows were cut that the partials are of.
template <class T>
__global__ void __launch_bounds__(tile_threads, 2)
    normalize_end_kernel(NormalizeRows rows, BatchStatistics statistics, ChannelTiles t, ChannelTiles from,
                         const float* partials) {
    __shared__ ReductionMemory memory;
    __shared__ AffineMemory affine;
    const auto p = place_of(t);
    take_turn();
    const auto moments = merge_partials<Moments>(from, partials, memory);
    const auto coefficients = finish_statistics(rows, statistics, t, p, moments, affine);
    if (rows.y != nullptr)
        apply_rows<T>(rows, t, p, coefficients);
}

/// Both in one, where a tile has one slice. The second reading finds x in the cache.
template <class T>
__global__ void __launch_bounds__(tile_threads, 2)
    normalize_once_kernel(NormalizeRows rows, BatchStatistics statistics, ChannelTiles t) {
    __shared__ ReductionMemory memory;
    __shared__ AffineMemory affine;
    const auto p = place_of(t);
    take_turn();
    Eight mean, squares;
    thread_moments(static_cast<const T*>(rows.x), t, p, mean, squares);
    const auto moments = merge_lanes<Moments>(t, p, mean, squares, memory);
    apply_rows<T>(rows, t, p, finish_statistics(rows, statistics, t, p, moments, affine));
}

template <class T>
__global__ void __launch_bounds__(tile_threads, 2)
    normalize_kernel(NormalizeRows rows, const float* mean, const float* spread, float eps, ChannelTiles t) {
    const auto p = place_of(t);
    take_turn();
    if (!p.active)
        return;
    Affine affine{load8(mean + p.channel), load8(spread + p.channel), {}};
    Eight weight;
    if (rows.weight != nullptr)
        weight = load8(rows.weight + p.channel);
    if (rows.bias != nullptr)
        affine.bias = load8(rows.bias + p.channel);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        if (eps > 0.0F)
            affine.scale.v[j] = 1.0F / sqrtf(affine.scale.v[j] + eps);
        if (rows.weight != nullptr)
            affine.scale.v[j] *= weight.v[j];
    }
    apply_rows<T>(rows, t, p, affine);
}

} // namespace

void launch_batch_moments(const void* x, DType type, const ChannelTiles& t, float* partials,
                          const LaunchStream& stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        launch_tiles(moments_kernel<T>, t, stream, static_cast<const T*>(x), t, partials);
    });
}

void launch_batch_norm_end(const NormalizeRows& rows, const BatchStatistics& statistics, const ChannelTiles& t,
                           const ChannelTiles& from, const float* partials, const LaunchStream& stream) {
    auto source = narrowed(from);
    if (rows.y != nullptr) {
        source.groups = t.groups;
        source.tiles = t.tiles;
    }
    const auto target = rows.y != nullptr ? t : one_slice(source);
    with_type(rows.type, [&](auto element) {
        launch_tiles(normalize_end_kernel<decltype(element)>, target, stream, rows, statistics, target, source,
                     partials);
    });
}

void launch_batch_norm(const NormalizeRows& rows, const BatchStatistics& statistics, const ChannelTiles& t,
                       float* partials, const LaunchStream& stream) {
    if (!t.once) {
        launch_batch_moments(rows.x, rows.type, t, partials, stream);
        launch_batch_norm_end(rows, statistics, t, t, partials, stream.behind());
        return;
    }
    with_type(rows.type, [&](auto element) {
        launch_tiles(normalize_once_kernel<decltype(element)>, t, stream, rows, statistics, t);
    });
}

void launch_normalize(const NormalizeRows& rows, const float* mean, const float* spread, float eps,
                      const ChannelTiles& t, const LaunchStream& stream) {
    with_type(rows.type, [&](auto element) {
        launch_tiles(normalize_kernel<decltype(element)>, t, stream, rows, mean, spread, eps, t);
    });
}

} // namespace espalier::cuda
