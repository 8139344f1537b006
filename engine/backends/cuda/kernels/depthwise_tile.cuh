// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/divisor.cuh"
#include "backends/cuda/kernels/four.cuh"
#include "backends/cuda/kernels/weights.cuh"

#include <algorithm>
#include <cstdint>
#include <limits>

/// What the depthwise kernels share: how a block's threads lie over channels and pixels.
namespace espalier::cuda {

/// Multiprocessors of the cards that the tiles are cut for; fewer or more only change the balance.
inline constexpr std::int64_t usual_multiprocessors = 132;

/// Threads of a block: `lanes` vectors of four channels side by side, then pixels. Neighbouring lanes read neighbouring
/// bytes; a block takes at most 64 channels, so that it has enough pixels to share the rows between them in its cache.
struct Tile {
    Divisor lanes;             ///< vectors of a block
    std::uint32_t width = 1;   ///< the same, for the host
    std::uint32_t vectors = 1; ///< of the tensor
    std::uint32_t pixels = 1;  ///< groups of outputs a block
    std::uint32_t slabs = 1;   ///< blocks over the channels

    Tile() = default;
    Tile(std::int64_t channels, std::int64_t threads, std::int64_t divisor = 1) {
        const auto all = channels / 4;
        // The widest of those that leave the fewest threads idle.
        std::int64_t best = std::min<std::int64_t>(all, 16);
        const auto idle = [all](std::int64_t wide) { return (all + wide - 1) / wide * wide - all; };
        for (std::int64_t fewer = best; fewer >= std::min<std::int64_t>(all, 8); --fewer)
            if (idle(fewer) < idle(best))
                best = fewer;
        lanes = Divisor(best);
        width = static_cast<std::uint32_t>(best);
        vectors = static_cast<std::uint32_t>(all);
        pixels = static_cast<std::uint32_t>(std::max<std::int64_t>(threads / (best * divisor), 1));
        slabs = static_cast<std::uint32_t>((all + best - 1) / best);
    }
};

/// Outputs of one thread: `width` columns of one row, `spread` apart. Between outputs that lie dilation / gcd(stride,
/// dilation) apart the inputs are a whole number of dilations apart, so that every dilation reads as densely as none.
struct Chunks {
    Divisor in_row, spread, rows;
    std::uint32_t count = 0;
    std::uint32_t width = 1;

    Chunks() = default;
    Chunks(std::int64_t images, std::int64_t height, std::int64_t row, std::int64_t thread_width, std::int64_t apart)
        : width(static_cast<std::uint32_t>(thread_width)) {
        const auto groups = (row + thread_width * apart - 1) / (thread_width * apart);
        in_row = Divisor(groups * apart);
        spread = Divisor(apart);
        rows = Divisor(height);
        count = static_cast<std::uint32_t>(images * height * groups * apart);
    }

    struct Place {
        std::uint32_t image, row, column;
    };
    __device__ Place at(std::uint32_t chunk) const {
        Place place{};
        place.row = in_row.split(chunk);
        place.image = rows.split(place.row);
        const auto group = spread.split(chunk);
        place.column = group * spread.value() * width + chunk;
        return place;
    }
};

/// Rows of `window` vectors that a thread has on their way while it multiplies one: what fits 64 registers.
template <class T>
constexpr int rows_ahead(int window, int rows) {
    return std::min(std::max(64 / (window * static_cast<int>(sizeof(T))) - 1, 1), rows - 1);
}

/// Copies the taps of a block's channels into shared memory, [K*K][lanes], as T holds them, turned by half a circle if
/// asked for.
template <class T, int K, class From>
__device__ void copy_filter(const From* filter, float4* weights, const Tile& tile, int pitch, bool flip) {
    const std::uint32_t lanes = tile.lanes.value();
#pragma unroll 4
    for (std::uint32_t i = threadIdx.x; i < K * K * lanes; i += blockDim.x) {
        std::uint32_t lane = i;
        const std::uint32_t tap = tile.lanes.split(lane), vector = blockIdx.y * lanes + lane;
        if (vector < tile.vectors)
            weights[(flip ? K * K - 1 - tap : tap) * lanes + lane] =
                rounded<T, From>(load4(filter + tap * pitch + 4 * vector));
    }
}

/// Does so, and waits for all threads.
template <int K, class T>
__device__ void stage_filter(const T* filter, float4* weights, const Tile& tile, int pitch, bool flip) {
    copy_filter<T, K>(filter, weights, tile, pitch, flip);
    __syncthreads();
}
template <class T, int K>
__device__ void stage_weights(const Weights& filter, float4* weights, const Tile& tile, int pitch, bool flip) {
    with_elements<T>(filter, [&](const auto* from) { copy_filter<T, K>(from, weights, tile, pitch, flip); });
    __syncthreads();
}

/// Adds up what the threads of one lane have found, pixel by pixel; the result is in the threads of pixel 0. All
/// threads call it; `shared` has two float4 a thread.
__device__ inline void sum_over_pixels(float4& a, float4& b, float4* shared, std::uint32_t pixel, std::uint32_t pixels,
                                       std::uint32_t lanes) {
    float4 *to_a = shared + threadIdx.x, *to_b = to_a + blockDim.x;
    __syncthreads(); // whatever lay there has been read
    *to_a = a;
    *to_b = b;
    while (pixels > 1) {
        const std::uint32_t half = (pixels + 1) / 2;
        __syncthreads();
        if (pixel + half < pixels) {
            add_to(*to_a, to_a[half * lanes]);
            add_to(*to_b, to_b[half * lanes]);
        }
        pixels = half;
    }
    a = *to_a;
    b = *to_b;
}

/// Threads a block for so many threads in all: few are spread over more blocks, so that no multiprocessor is left out.
inline std::int64_t threads_for(std::int64_t count, std::int64_t most) {
    if (count >= 2 * usual_multiprocessors * most)
        return most;
    return count >= usual_multiprocessors * most * 3 / 8 ? most / 2 : most / 4;
}

/// Whether 32 bits count every output and every address within a row, as the unrolled kernels take for granted.
inline bool fits_32_bits(std::int64_t a) { return a < std::numeric_limits<std::int32_t>::max() / 4; }

} // namespace espalier::cuda
