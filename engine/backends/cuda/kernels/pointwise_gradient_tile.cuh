// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/ceil_divide.h"
#include "backends/cuda/kernels/four.cuh"
#include "backends/cuda/kernels/pointwise_tile.cuh"
#include "backends/cuda/kernels/shared_memory.h"
#include "backends/cuda/kernels/weights.cuh"

#include <cuda_pipeline_primitives.h>

#include <algorithm>

/// How the gradient of a pointwise convolution is cut into blocks and tiles, and what of it is in shared memory.
namespace espalier::cuda::pointwise {

inline constexpr int blocks_together = 3; ///< of a multiprocessor

/// Channels of a thread: 16 bytes, so that neighbours meet no bank of shared memory twice.
template <class T>
inline constexpr int few = 16 / static_cast<int>(sizeof(T));

/// Threads that each keep to a few channels: `lanes` rows side by side.
template <class T>
struct FewColumns {
    static constexpr int idle = 1 << 20; ///< beyond every row
    int lanes, column, lane;
    __device__ explicit FewColumns(int channels) {
        const int vectors = channels / few<T>, thread = static_cast<int>(threadIdx.x);
        lanes = block_threads / vectors;
        column = thread % vectors * few<T>;
        lane = thread / vectors < lanes ? thread / vectors : idle;
    }
};

/// Pieces of the matrix's gradient that a warp sums, 16 channels by 8 products: so many rows of them ...
inline int piece_rows(const Pointwise& s) { return static_cast<int>(ceil_divide(s.channels, 16)); }
/// ... and columns. More of them save reads of shared memory, until there are no registers left for them.
__host__ __device__ constexpr int matrix_columns(int rows) { return rows == 4 ? 1 : 2; }
/// Of the gradient of d, pieces side by side that a warp makes at a time.
inline constexpr int gradient_columns = 2;

__host__ __device__ constexpr int groups_of(int width, int columns) { return (width / 8 + columns - 1) / columns; }

/// Shared memory of a block. What a tile reads is there twice, where a slice has several tiles. Products reach beyond
/// the last row and column, and are not used there.
template <class T>
struct GradientMemory {
    T* gz;           ///< [tile_rows][pitch]: gy as it comes, then the gradient of the pointwise result
    T* z;            ///< [tile_rows][pitch]
    T* d;            ///< [tile_rows][pitch]
    int next;        ///< elements from these to those of the next tile
    T* matrix;       ///< transposed, [channels][pitch]
    float* gradient; ///< coefficients of gz, [3][products]
    std::size_t bytes;

    /// `rows`: of pieces of the matrix's gradient, a warp.
    __host__ __device__ GradientMemory(const Cut& c, int rows, unsigned char* base) {
        Carver carve(base);
        gz = carve.take<T>(c.tile_rows * product_pitch<T>(c.products));
        z = carve.take<T>(c.tile_rows * product_pitch<T>(c.products));
        d = carve.take<T>(c.tile_rows * product_pitch<T>(c.channels) + 8);
        next = static_cast<int>(carve.bytes() / sizeof(T));
        if (c.slice_rows > c.tile_rows)
            carve.take<T>(next);
        matrix = carve.take<T>(8 * gradient_columns * groups_of(c.channels, gradient_columns) *
                               product_pitch<T>(c.products));
        gradient = carve.take<float>(3 * c.products);
        // At the end the pieces of each warp, in the place of everything.
        const std::size_t least =
            sizeof(Piece16x8) * block_threads * static_cast<std::size_t>(rows * matrix_columns(rows));
        if (carve.bytes() < least)
            carve.take<unsigned char>(static_cast<int>(least - carve.bytes()));
        bytes = carve.bytes();
    }
};

/// Slices that fill the card once, so that there are few parts of the matrix's gradient. A slice of several tiles loads
/// one while it multiplies the one before.
template <class T>
Cut cut_gradient(const Pointwise& s) {
    const auto sixteens = [&](std::int64_t rows) { return ceil_divide(rows, 16) * 16; };
    const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
    constexpr std::int64_t least_rows = 32; // fewer do not pay for a block's beginning and end
    // Of the widest there is shared memory for two.
    const int together = sizeof(T) == 4 && s.channels + s.products > 112 ? 2 : blocks_together;
    const auto rows = std::max(sixteens(ceil_divide(s.rows, together * s.multiprocessors)), least_rows);
    Cut c;
    c.rows = as_int(s.rows);
    c.slice_rows = as_int(rows);
    c.slices = as_int(ceil_divide(s.rows, rows));
    c.channels = as_int(s.channels), c.products = as_int(s.products);
    c.channel_eights = Divisor(s.channels / 8);
    c.product_eights = Divisor(s.products / 8);
    // A tile has work for all warps, if there is room for it.
    const int pieces = piece_rows(s), groups = groups_of(c.channels, gradient_columns);
    for (auto most = 16 * ceil_divide(block_warps, groups);; most -= 16) {
        auto tiles = ceil_divide(rows, most);
        if (tiles == 1 && rows >= 2 * least_rows)
            tiles = 2;
        c.tile_rows = as_int(sixteens(ceil_divide(rows, tiles)));
        if (most <= least_rows || GradientMemory<T>(c, pieces, nullptr).bytes <= shared_memory_of_block(together))
            return c;
    }
}

/// A tile in shared memory, and the threads that copy it: each waits for what it copies itself, and is the first to
/// read it.
template <class T>
struct GradientTile {
    T *gz, *z, *d;
    int z_pitch, d_pitch;

    __device__ GradientTile(const GradientMemory<T>& memory, const Cut& c, int at)
        : gz(memory.gz + at), z(memory.z + at), d(memory.d + at), z_pitch(product_pitch<T>(c.products)),
          d_pitch(product_pitch<T>(c.channels)) {}

    /// Begins to copy `rows` rows from row `first` on.
    __device__ void fetch(const PointwiseGradient& g, const Cut& c, int first, int rows) const {
        const FewColumns<T> of_z(c.products), of_d(c.channels);
        const T *from_gy = static_cast<const T*>(g.gy) + static_cast<std::int64_t>(first) * c.products + of_z.column,
                *from_z = static_cast<const T*>(g.z) + static_cast<std::int64_t>(first) * c.products + of_z.column,
                *from_d = static_cast<const T*>(g.d) + static_cast<std::int64_t>(first) * c.channels + of_d.column;
        for (int row = of_z.lane; row < rows; row += of_z.lanes) {
            const int to = row * z_pitch + of_z.column;
            __pipeline_memcpy_async(gz + to, from_gy + row * c.products, 16);
            __pipeline_memcpy_async(z + to, from_z + row * c.products, 16);
        }
        if (g.gmatrix_parts != nullptr)
            for (int row = of_d.lane; row < rows; row += of_d.lanes)
                __pipeline_memcpy_async(d + row * d_pitch + of_d.column, from_d + row * c.channels, 16);
        __pipeline_commit();
    }

    /// Turns gy into the gradient of the pointwise result, and makes the rows from `rows` to `whole` zeros.
    template <bool tf32>
    __device__ void finish(const GradientMemory<T>& memory, const Cut& c, bool with_matrix, int rows, int whole) const {
        const FewColumns<T> of_z(c.products), of_d(c.channels);
#pragma unroll 1
        for (int column = of_z.column; column < of_z.column + few<T> && of_z.lane < whole; column += 4) {
            const float4 scale = load4(memory.gradient + column), slope = load4(memory.gradient + c.products + column),
                         offset = load4(memory.gradient + 2 * c.products + column);
            for (int row = of_z.lane; row < whole; row += of_z.lanes) {
                T* const to = gz + row * z_pitch + column;
                float4 value{};
                if (row < rows) {
                    const float4 gy = load4(to), of = load4(z + row * z_pitch + column);
                    value.x = as_factor<tf32>(fmaf(scale.x, gy.x, fmaf(slope.x, of.x, offset.x)));
                    value.y = as_factor<tf32>(fmaf(scale.y, gy.y, fmaf(slope.y, of.y, offset.y)));
                    value.z = as_factor<tf32>(fmaf(scale.z, gy.z, fmaf(slope.z, of.z, offset.z)));
                    value.w = as_factor<tf32>(fmaf(scale.w, gy.w, fmaf(slope.w, of.w, offset.w)));
                }
                store4(to, value);
            }
        }
        if (with_matrix)
            for (int row = of_d.lane; row < whole; row += of_d.lanes)
                if (row >= rows)
                    *reinterpret_cast<uint4*>(d + row * d_pitch + of_d.column) = uint4{};
    }
};

/// Ioffe and Szegedy, "Batch Normalization" (2015), section 3: gz = scale gy + slope z + offset.
__device__ inline void store_coefficients(const PointwiseGradient& g, const Cut& c, float* to) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= c.products)
        return;
    const float inv_std = g.inv_std[i], gweight = g.gweight[i], gbias = g.gbias[i], mean = g.mean[i],
                weight = g.weight != nullptr ? g.weight[i] : 1.0F;
    const float count = static_cast<float>(c.rows), scale = inv_std * weight;
    const float slope = -scale * inv_std * gweight / count;
    to[i] = scale;
    to[c.products + i] = slope;
    to[2 * c.products + i] = -scale * gbias / count - slope * mean;
}

/// Neighbouring threads take rows below each other: these lie side by side where they go.
template <class T, bool tf32>
__device__ void store_matrix(const PointwiseGradient& g, const Cut& c, T* to) {
    const int pitch = product_pitch<T>(c.products);
    with_elements<T>(g.matrix, [&](const auto* from) {
        for (int i = static_cast<int>(threadIdx.x); i < c.products * c.channels / 8; i += block_threads) {
            const int column = i / c.products * 8, row = i % c.products;
            const Eight values = as_factor<tf32>(load8(from + row * c.channels + column));
#pragma unroll
            for (int j = 0; j < 8; ++j)
                to[(column + j) * pitch + row] = from_float<T>(values.v[j]);
        }
    });
}

} // namespace espalier::cuda::pointwise
