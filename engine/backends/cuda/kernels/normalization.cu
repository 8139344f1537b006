// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/channel_tiles.cuh"
#include "backends/cuda/kernels/normalization.h"
#include "backends/cuda/kernels/normalize_map.cuh"

#include <cstddef>

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

/// A tile's coefficients on their way from the threads that merged them to those that use them.
struct AffineMemory {
    alignas(16) float mean[most_tile_width];
    alignas(16) float scale[most_tile_width];
    alignas(16) float bias[most_tile_width];

    template <class T>
    __device__ Affine<T> of(const Place& p) const {
        return {load_coefficients<T>(mean + p.column), load_coefficients<T>(scale + p.column),
                load_coefficients<T>(bias + p.column)};
    }
};

/// What the statistics of a channel are finished with; asked for early, so that it comes together with what they are
/// made of.
struct GivenChannel {
    int channel;
    bool here = false, real = false, leaves = false; ///< within the tile, no padding, whether its statistics are kept
    float weight = 1, bias = 0, old_mean = 0, old_var = 0;

    __device__ GivenChannel(const NormalizeRows& rows, const BatchStatistics& s, const ChannelTiles& t, const Place& p)
        : channel(static_cast<int>(blockIdx.x) * 8 * t.groups + static_cast<int>(threadIdx.x)) {
        here = static_cast<int>(threadIdx.x) < 8 * t.groups && channel < t.pitch;
        real = here && channel < t.channels;
        leaves = here && p.slice == 0;
        if (here && rows.weight != nullptr)
            weight = rows.weight[channel];
        if (here && rows.bias != nullptr)
            bias = rows.bias[channel];
        if (leaves && real && s.running_mean != nullptr) {
            old_mean = s.old_mean[channel];
            old_var = s.old_var[channel];
        }
    }
};

/// From the moments of the whole batch, in the threads below the tile's width: the statistics, written by the first
/// slice, and the tile's coefficients.
__device__ void finish_statistics(const GivenChannel& given, const BatchStatistics& s, const ChannelTiles& t,
                                  const Partial& moments, AffineMemory& memory) {
    if (given.here) {
        const int thread = static_cast<int>(threadIdx.x);
        const auto count = static_cast<float>(t.rows);
        const float variance = moments.b / count;
        const float inv_std = given.real ? 1.0F / sqrtf(variance + s.eps) : 0.0F; // padding stays zero
        memory.mean[thread] = moments.a;
        memory.scale[thread] = inv_std * given.weight;
        memory.bias[thread] = given.bias;
        if (given.leaves) {
            if (s.mean != nullptr)
                s.mean[given.channel] = moments.a;
            if (s.inv_std != nullptr)
                s.inv_std[given.channel] = inv_std;
            if (s.running_mean != nullptr && given.real) {
                const float unbiased = moments.b / (count > 1.0F ? count - 1.0F : 1.0F);
                s.running_mean[given.channel] = (1.0F - s.momentum) * given.old_mean + s.momentum * moments.a;
                s.running_var[given.channel] = (1.0F - s.momentum) * given.old_var + s.momentum * unbiased;
            }
        }
    }
    __syncthreads();
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
    const auto p = map_place_of<T>(t);
    take_turn();
    // A merge of slices needs no memory for lanes.
    static_assert(sizeof(BegunRows) <= offsetof(ReductionMemory, merged));
    auto& begun = reinterpret_cast<BegunRows&>(memory);
    if (rows.y != nullptr) {
        if (rows.residual != nullptr)
            begin_rows<T, true>(rows, t, p, begun);
        else
            begin_rows<T, false>(rows, t, p, begun);
    }
    const GivenChannel given(rows, statistics, t, p);
    const auto moments = merge_partials<Moments>(from, partials, memory);
    finish_statistics(given, statistics, t, moments, affine);
    if (rows.y == nullptr)
        return;
    const auto coefficients = affine.of<T>(p);
    if (rows.residual != nullptr)
        apply_begun_rows<T, true>(rows, t, p, coefficients, begun);
    else
        apply_begun_rows<T, false>(rows, t, p, coefficients, begun);
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
    const GivenChannel given(rows, statistics, t, p);
    finish_statistics(given, statistics, t, moments, affine);
    const auto map = map_place_of<T>(t);
    apply_rows<T>(rows, t, map, affine.of<T>(map));
}

template <class T>
__global__ void __launch_bounds__(tile_threads, 2)
    normalize_kernel(NormalizeRows rows, const float* mean, const float* spread, float eps, ChannelTiles t) {
    const auto p = map_place_of<T>(t);
    take_turn();
    if (!p.active)
        return;
    Affine<T> affine{load_coefficients<T>(mean + p.channel), load_coefficients<T>(spread + p.channel), {}};
    MapValues<T> weight;
    if (rows.weight != nullptr)
        weight = load_coefficients<T>(rows.weight + p.channel);
    if (rows.bias != nullptr)
        affine.bias = load_coefficients<T>(rows.bias + p.channel);
#pragma unroll
    for (int j = 0; j < map_width<T>; ++j) {
        if (eps > 0.0F)
            affine.scale.v[j] = 1.0F / sqrtf(affine.scale.v[j] + eps);
        if (rows.weight != nullptr)
            affine.scale.v[j] *= weight.v[j];
    }
    apply_rows<T>(rows, t, p, affine);
}

} // namespace

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
        with_type(rows.type, [&](auto element) {
            using T = decltype(element);
            launch_tiles(moments_kernel<T>, t, stream, static_cast<const T*>(rows.x), t, partials);
        });
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
