// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/channel_tiles.cuh"
#include "backends/cuda/kernels/normalization.h"

#include <cuda_pipeline_primitives.h>

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

/// y = (x - mean) scale + bias, by channel.
struct Affine {
    Eight mean, scale, bias;
};

/// Eight values of a row, and of the residual if there is one.
template <class T, bool with_residual>
__device__ void apply(const NormalizeRows& rows, const Affine& affine, const Packed<T>& x, const Packed<T>& residual,
                      std::int64_t at) {
    Eight v = unpack(x);
#pragma unroll
    for (int j = 0; j < 8; ++j)
        v.v[j] = fmaf(v.v[j] - affine.mean.v[j], affine.scale.v[j], affine.bias.v[j]);
    if constexpr (with_residual) {
        const Eight r = unpack(residual);
#pragma unroll
        for (int j = 0; j < 8; ++j)
            v.v[j] += r.v[j];
    }
    if (rows.relu)
#pragma unroll
        for (int j = 0; j < 8; ++j)
            v.v[j] = v.v[j] < 0.0F ? 0.0F : v.v[j]; // NaN stays
    store8(static_cast<T*>(rows.y) + at, v);
}

template <class T, bool with_residual>
inline constexpr int rows_applied_at_once = with_residual ? rows_at_once<T> / 2 : rows_at_once<T>;

/// This thread's rows from `row` on, which lies at `at`. y may be x or residual: each thread reads its rows before it
/// writes them.
template <class T, bool with_residual>
__device__ void apply_rows(const NormalizeRows& rows, const ChannelTiles& t, const Place& p, const Affine& affine,
                           int row, std::int64_t at) {
    constexpr int some = rows_applied_at_once<T, with_residual>;
    const auto step = step_of(t, p);
    const T *x = static_cast<const T*>(rows.x), *residual = static_cast<const T*>(rows.residual);
    for (; row < p.end; row += some * p.lanes, at += some * step) {
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
            if (row + u * p.lanes < p.end)
                apply<T, with_residual>(rows, affine, packed[u], added[u], at + u * step);
    }
}

template <class T>
__device__ void apply_rows(const NormalizeRows& rows, const ChannelTiles& t, const Place& p, const Affine& affine) {
    if (rows.residual != nullptr)
        apply_rows<T, true>(rows, t, p, affine, p.begin + p.lane, first_of(t, p));
    else
        apply_rows<T, false>(rows, t, p, affine, p.begin + p.lane, first_of(t, p));
}

/// Rows of the threads of a block that come in the background, while its coefficients are found: of x, or of x and
/// residual by turns.
struct BegunRows {
    static constexpr int bytes = 64; ///< of a thread
    alignas(16) unsigned char data[bytes * tile_threads];

    /// A thread has its eight `u` in one place.
    template <class T>
    __device__ Packed<T>& at(int u) {
        return reinterpret_cast<Packed<T>*>(data)[u * tile_threads + static_cast<int>(threadIdx.x)];
    }
};

template <class T, bool with_residual>
__device__ void begin_rows(const NormalizeRows& rows, const ChannelTiles& t, const Place& p, BegunRows& begun) {
    constexpr int some = rows_applied_at_once<T, with_residual>, tensors = with_residual ? 2 : 1;
    static_assert(some * tensors * sizeof(Packed<T>) <= BegunRows::bytes);
    const auto copy = [&](int u, const void* from, std::int64_t element) {
        auto* const to = reinterpret_cast<T*>(&begun.at<T>(u));
#pragma unroll
        for (std::size_t part = 0; part < 8; part += 16 / sizeof(T))
            __pipeline_memcpy_async(to + part, static_cast<const T*>(from) + element + part, 16);
    };
#pragma unroll
    for (int u = 0; u < some; ++u)
        if (p.begin + p.lane + u * p.lanes < p.end) {
            const auto element = first_of(t, p) + u * step_of(t, p);
            copy(tensors * u, rows.x, element);
            if constexpr (with_residual)
                copy(tensors * u + 1, rows.residual, element);
        }
    __pipeline_commit();
}

/// All rows of this thread, the first of which begin_rows has begun.
template <class T, bool with_residual>
__device__ void apply_begun_rows(const NormalizeRows& rows, const ChannelTiles& t, const Place& p, const Affine& affine,
                                 BegunRows& begun) {
    constexpr int some = rows_applied_at_once<T, with_residual>, tensors = with_residual ? 2 : 1;
    __pipeline_wait_prior(0);
    int row = p.begin + p.lane;
    auto at = first_of(t, p);
#pragma unroll
    for (int u = 0; u < some; ++u, row += p.lanes, at += step_of(t, p))
        if (row < p.end)
            apply<T, with_residual>(rows, affine, begun.at<T>(tensors * u), begun.at<T>(tensors * u + tensors - 1), at);
    apply_rows<T, with_residual>(rows, t, p, affine, row, at);
}

/// A tile's coefficients on their way from the threads that merged them to those that use them.
struct AffineMemory {
    alignas(16) float mean[most_tile_width];
    alignas(16) float scale[most_tile_width];
    alignas(16) float bias[most_tile_width];
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
/// slice, and every thread's coefficients.
__device__ Affine finish_statistics(const GivenChannel& given, const BatchStatistics& s, const ChannelTiles& t,
                                    const Place& p, const Partial& moments, AffineMemory& memory) {
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
    const auto coefficients = finish_statistics(given, statistics, t, p, moments, affine);
    if (rows.y == nullptr)
        return;
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
    apply_rows<T>(rows, t, p, finish_statistics(given, statistics, t, p, moments, affine));
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
