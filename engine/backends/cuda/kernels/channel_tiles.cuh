// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/channel_tiles.h"
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/overlap.cuh"
#include "backends/cuda/kernels/packed.cuh"

/// The device's side of channel_tiles.h: who reads what, and how the results of threads and slices are
/// merged, always in the same order.
namespace espalier::cuda {

inline constexpr int tile_threads = 512;
inline constexpr int most_tile_width = 8 * most_tile_groups;

/// Where a thread stands: eight channels of the rows begin + lane, begin + lane + lanes, ... below end.
struct Place {
    int begin, end;
    int lane, lanes;
    int column;  ///< its first channel within the tile
    int channel; ///< and among all
    int width;   ///< channels of the tile that threads share
    int slice;
    bool active; ///< false: it has no rows (begin == end)
};

__device__ inline Place place_of(const ChannelTiles& t) {
    Place p;
    const int thread = static_cast<int>(threadIdx.x);
    p.lanes = tile_threads / t.groups;
    p.lane = thread / t.groups;
    p.column = 8 * (thread % t.groups);
    p.channel = static_cast<int>(blockIdx.x) * 8 * t.groups + p.column;
    p.width = 8 * t.groups;
    p.slice = static_cast<int>(blockIdx.y);
    p.active = p.lane < p.lanes && p.channel < t.pitch;
    p.begin = p.slice * t.slice_rows;
    p.end = min(p.begin + t.slice_rows, t.rows);
    if (!p.active)
        p.end = p.begin;
    return p;
}

__device__ inline int rows_of_slice(const ChannelTiles& t, int slice) {
    return min(t.slice_rows, t.rows - slice * t.slice_rows);
}
/// Where a thread's first eight lie in a tensor, and how far it is to those of its next row.
__device__ inline std::int64_t first_of(const ChannelTiles& t, const Place& p) {
    return static_cast<std::int64_t>(p.begin + p.lane) * t.pitch + p.channel;
}
__device__ inline std::int64_t step_of(const ChannelTiles& t, const Place& p) {
    return static_cast<std::int64_t>(p.lanes) * t.pitch;
}

/// What is known of some values of one channel, and of `n` of them. Two meanings: Moments and Sums.
struct alignas(8) Partial {
    float a = 0, b = 0;
};
struct Piece {
    float n = 0;
    Partial known;
};

/// a is the mean, b the sum of squared distances from it. Pieces are merged by sums of distances from the mean of one
/// of them, which is near all the others: nothing cancels, and nothing is divided before the end. After Chan, Golub and
/// LeVeque, "Algorithms for computing the sample variance" (1983).
struct Moments {
    __device__ static Partial enter(const Piece& piece, const Partial& first) {
        const float distance = piece.known.a - first.a, all = piece.n * distance;
        return {all, fmaf(all, distance, piece.known.b)};
    }
    __device__ static Partial leave(const Partial& sum, float n, const Partial& first) {
        const float offset = sum.a / n;
        return {first.a + offset, fmaxf(sum.b - sum.a * offset, 0.0F)};
    }
};

/// a and b are sums.
struct Sums {
    __device__ static Partial enter(const Piece& piece, const Partial&) { return piece.known; }
    __device__ static Partial leave(const Partial& sum, float, const Partial&) { return sum; }
};

/// Shared memory of a block that reduces.
struct ReductionMemory {
    alignas(16) float lanes_a[tile_threads * 8]; ///< [lane][column]
    alignas(16) float lanes_b[tile_threads * 8];
    Partial merged[tile_threads];
};

/// Merges source(i, column) for i = 0 ... count-1, which know of `n` values together, by column. The result is in the
/// threads below `width`, the number of columns.
template <class Meaning, class Source>
__device__ Partial merge_all(int count, int width, float n, ReductionMemory& memory, Source source) {
    constexpr int some = 8; // on their way together
    const int thread = static_cast<int>(threadIdx.x);
    const int column = thread % width, part = thread / width;
    int parts = min(tile_threads / width, count);
    Partial first, sum;
    if (part < parts) {
        first = source(0, column).known;
        for (int begin = part; begin < count; begin += some * parts) {
            Piece pieces[some];
#pragma unroll
            for (int u = 0; u < some; ++u)
                if (begin + u * parts < count)
                    pieces[u] = source(begin + u * parts, column);
#pragma unroll
            for (int u = 0; u < some; ++u)
                if (begin + u * parts < count) {
                    const Partial p = Meaning::enter(pieces[u], first);
                    sum.a += p.a;
                    sum.b += p.b;
                }
        }
    }
    while (parts > 1) {
        __syncthreads(); // whoever still reads what the last round left
        memory.merged[thread] = sum;
        __syncthreads();
        const int next = parts > 16 ? 8 : 1;
        sum = {};
        if (part < next)
#pragma unroll 4
            for (int i = part; i < parts; i += next) {
                const Partial p = memory.merged[i * width + column];
                sum.a += p.a;
                sum.b += p.b;
            }
        parts = next;
    }
    return Meaning::leave(sum, n, first);
}

/// Merges what the threads of a block found in its slice. The result is in the threads below the tile's width.
template <class Meaning, class Values>
__device__ Partial merge_lanes(const ChannelTiles& t, const Place& place, const Values& a, const Values& b,
                               ReductionMemory& memory) {
    constexpr int count = sizeof(a.v) / sizeof(float);
#pragma unroll
    for (int j = 0; j < count; j += 4) { // = [lane][column]
        const int at = count * static_cast<int>(threadIdx.x) + j;
        *reinterpret_cast<float4*>(memory.lanes_a + at) = make_float4(a.v[j], a.v[j + 1], a.v[j + 2], a.v[j + 3]);
        *reinterpret_cast<float4*>(memory.lanes_b + at) = make_float4(b.v[j], b.v[j + 1], b.v[j + 2], b.v[j + 3]);
    }
    __syncthreads();
    const int width = place.width, rows = rows_of_slice(t, place.slice);
    const int each = rows / place.lanes, more = rows % place.lanes; // the first lanes have one row more
    return merge_all<Meaning>(
        min(place.lanes, rows), width, static_cast<float>(rows), memory, [&](int lane, int column) {
            const int at = lane * width + column;
            return Piece{static_cast<float>(each + (lane < more ? 1 : 0)), {memory.lanes_a[at], memory.lanes_b[at]}};
        });
}

/// Leaves a slice's result for the next launch: partials[slices][2][pitch].
__device__ inline void store_partial(const ChannelTiles& t, const Place& place, const Partial& p, float* partials) {
    const int thread = static_cast<int>(threadIdx.x);
    const int channel = static_cast<int>(blockIdx.x) * 8 * t.groups + thread;
    if (thread < 8 * t.groups && channel < t.pitch) {
        float* at = partials + static_cast<std::int64_t>(place.slice) * 2 * t.pitch + channel;
        at[0] = p.a;
        at[t.pitch] = p.b;
    }
}

/// Merges what all slices of this block's tile left there. The result is in the threads below the tile's width.
template <class Meaning>
__device__ Partial merge_partials(const ChannelTiles& t, const float* partials, ReductionMemory& memory) {
    const int first = static_cast<int>(blockIdx.x) * 8 * t.groups;
    return merge_all<Meaning>(t.slices, 8 * t.groups, static_cast<float>(t.rows), memory, [&](int slice, int column) {
        if (first + column >= t.pitch)
            return Piece{};
        const float* at = partials + static_cast<std::int64_t>(slice) * 2 * t.pitch + first + column;
        return Piece{static_cast<float>(rows_of_slice(t, slice)), {at[0], at[t.pitch]}};
    });
}

/// Launches one block a tile and slice.
template <class... Parameters, class... Given>
void launch_tiles(void (*kernel)(Parameters...), const ChannelTiles& t, const LaunchStream& stream,
                  const Given&... given) {
    enqueue(kernel, dim3(static_cast<unsigned>(t.tiles), static_cast<unsigned>(t.slices)), dim3(tile_threads), 0,
            stream, given...);
}

} // namespace espalier::cuda
