// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/ceil_divide.h"
#include "backends/cuda/kernels/four.cuh"
#include "backends/cuda/kernels/pointwise.h"
#include "backends/cuda/kernels/pointwise_tile.cuh"
#include "backends/cuda/kernels/shared_memory.h"
#include "backends/cuda/kernels/weights.cuh"

#include <cuda_pipeline_primitives.h>

#include <algorithm>

namespace espalier::cuda {
namespace {

using namespace pointwise;

constexpr int blocks_together = 3; ///< of a multiprocessor

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
int piece_rows(const Pointwise& s) { return static_cast<int>(ceil_divide(s.channels, 16)); }
/// ... and columns. More of them save reads of shared memory, until there are no registers left for them.
__host__ __device__ constexpr int matrix_columns(int rows) { return rows == 4 ? 1 : 2; }
/// Of the gradient of d, pieces side by side that a warp makes at a time.
constexpr int gradient_columns = 2;

__host__ __device__ constexpr int groups_of(int width, int columns) { return (width / 8 + columns - 1) / columns; }

/// Shared memory of a block. What a tile reads is there twice, where a slice has several tiles. Products reach beyond
/// the last row and column, and are not used there.
template <class T>
struct Memory {
    T* gz;           ///< [tile_rows][pitch]: gy as it comes, then the gradient of the pointwise result
    T* z;            ///< [tile_rows][pitch]
    T* d;            ///< [tile_rows][pitch]
    int next;        ///< elements from these to those of the next tile
    T* matrix;       ///< transposed, [channels][pitch]
    float* gradient; ///< coefficients of gz, [3][products]
    std::size_t bytes;

    /// `rows`: of pieces of the matrix's gradient, a warp.
    __host__ __device__ Memory(const Cut& c, int rows, unsigned char* base) {
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
        if (most <= least_rows || Memory<T>(c, pieces, nullptr).bytes <= shared_memory_of_block(together))
            return c;
    }
}

/// Into a matrix with its rows as columns, of which there are `columns`.
__device__ inline void store_transposed(const Piece16x8& piece, float* to, int columns, int m, int n) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int column = m + lane / 4 + i / 2 * 8, row = n + lane % 4 * 2 + i % 2;
        if (column < columns)
            to[row * columns + column] = piece.v[i];
    }
}

template <class T, bool tf32, int PieceRows>
__global__ void __launch_bounds__(block_threads, blocks_together)
    pointwise_gradient_kernel(PointwiseGradient g, Cut c) {
    constexpr int Columns = matrix_columns(PieceRows);
    extern __shared__ float4 shared[];
    const Memory<T> memory(c, PieceRows, reinterpret_cast<unsigned char*>(shared));
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    const int z_pitch = product_pitch<T>(c.products), d_pitch = product_pitch<T>(c.channels);
    const bool with_matrix = g.gmatrix_parts != nullptr;

    const FewColumns<T> of_z(c.products), of_d(c.channels);
    const int begin = static_cast<int>(blockIdx.x) * c.slice_rows, end = min(begin + c.slice_rows, c.rows);

    // Each thread waits for what it copies itself, and is the first to read it.
    const auto begin_tile = [&](int first, int at) {
        const int rows = min(c.tile_rows, end - first);
        const T *gy = static_cast<const T*>(g.gy) + static_cast<std::int64_t>(first) * c.products + of_z.column,
                *z = static_cast<const T*>(g.z) + static_cast<std::int64_t>(first) * c.products + of_z.column,
                *d = static_cast<const T*>(g.d) + static_cast<std::int64_t>(first) * c.channels + of_d.column;
        for (int row = of_z.lane; row < rows; row += of_z.lanes) {
            const int to = at + row * z_pitch + of_z.column;
            __pipeline_memcpy_async(memory.gz + to, gy + row * c.products, 16);
            __pipeline_memcpy_async(memory.z + to, z + row * c.products, 16);
        }
        if (with_matrix)
            for (int row = of_d.lane; row < rows; row += of_d.lanes)
                __pipeline_memcpy_async(memory.d + at + row * d_pitch + of_d.column, d + row * c.channels, 16);
        __pipeline_commit();
    };

    take_turn();
    begin_tile(begin, 0);
    // Ioffe and Szegedy, "Batch Normalization" (2015), section 3: gz = scale gy + slope z + offset.
    if (thread < c.products) {
        const float inv_std = g.inv_std[thread], gweight = g.gweight[thread], gbias = g.gbias[thread],
                    mean = g.mean[thread], weight = g.weight != nullptr ? g.weight[thread] : 1.0F;
        const float count = static_cast<float>(c.rows), scale = inv_std * weight;
        const float slope = -scale * inv_std * gweight / count;
        memory.gradient[thread] = scale;
        memory.gradient[c.products + thread] = slope;
        memory.gradient[2 * c.products + thread] = -scale * gbias / count - slope * mean;
    }
    // Neighbouring threads take rows below each other: these lie side by side where they go.
    with_elements<T>(g.matrix, [&](const auto* from) {
        for (int i = thread; i < c.products * c.channels / 8; i += block_threads) {
            const int column = i / c.products * 8, row = i % c.products;
            const Eight values = as_factor<tf32>(load8(from + row * c.channels + column));
#pragma unroll
            for (int j = 0; j < 8; ++j)
                memory.matrix[(column + j) * z_pitch + row] = from_float<T>(values.v[j]);
        }
    });

    // Of the matrix's gradient, transposed, a warp sums all channels by some of the products over a share of the rows.
    const int groups = groups_of(c.products, Columns), shares = block_warps / groups;
    const int group = warp % groups, share = warp / groups;
    int m[PieceRows], n[Columns];
#pragma unroll
    for (int i = 0; i < PieceRows; ++i)
        m[i] = 16 * i;
#pragma unroll
    for (int j = 0; j < Columns; ++j)
        n[j] = 8 * (group * Columns + j);
    Piece16x8 gmatrix[PieceRows][Columns];
    int at = 0;
    for (int first = begin; first < end; first += c.tile_rows, at = memory.next - at) {
        const int rows = min(c.tile_rows, end - first), whole = (rows + 15) / 16 * 16;
        T *const tile_gz = memory.gz + at, *const tile_z = memory.z + at, *const tile_d = memory.d + at;
        __pipeline_wait_prior(0);
        if (first == begin)
            __syncthreads(); // coefficients and matrix
#pragma unroll 1
        for (int column = of_z.column; column < of_z.column + few<T> && of_z.lane < whole; column += 4) {
            const float4 scale = load4(memory.gradient + column), slope = load4(memory.gradient + c.products + column),
                         offset = load4(memory.gradient + 2 * c.products + column);
            for (int row = of_z.lane; row < whole; row += of_z.lanes) {
                T* const to = tile_gz + row * z_pitch + column;
                float4 value{};
                if (row < rows) {
                    const float4 gy = load4(to), z = load4(tile_z + row * z_pitch + column);
                    value.x = as_factor<tf32>(fmaf(scale.x, gy.x, fmaf(slope.x, z.x, offset.x)));
                    value.y = as_factor<tf32>(fmaf(scale.y, gy.y, fmaf(slope.y, z.y, offset.y)));
                    value.z = as_factor<tf32>(fmaf(scale.z, gy.z, fmaf(slope.z, z.z, offset.z)));
                    value.w = as_factor<tf32>(fmaf(scale.w, gy.w, fmaf(slope.w, z.w, offset.w)));
                }
                store4(to, value);
            }
        }
        if (with_matrix)
            for (int row = of_d.lane; row < whole; row += of_d.lanes)
                if (row >= rows)
                    *reinterpret_cast<uint4*>(tile_d + row * d_pitch + of_d.column) = uint4{};
        __syncthreads();

        const Factor<T, true> gz{tile_gz, z_pitch}, matrix{memory.matrix, z_pitch};
        // Into the place of the tile before this one, whose products are behind the barrier.
        if (first + c.tile_rows < end)
            begin_tile(first + c.tile_rows, memory.next - at);
        const int strips = whole / 16;
        // Warps without a share of the matrix's gradient come first.
        for (int task = (warp + block_warps - groups * shares) % block_warps;
             task < strips * groups_of(c.channels, gradient_columns); task += block_warps) {
            const int row[] = {task % strips * 16}, column = task / strips * 8 * gradient_columns;
            int columns[gradient_columns];
#pragma unroll
            for (int j = 0; j < gradient_columns; ++j)
                columns[j] = column + 8 * j;
            Piece16x8 pieces[1][gradient_columns];
            multiply_block<T, tf32>(pieces, gz, matrix, row, columns, c.products);
#pragma unroll
            for (int j = 0; j < gradient_columns; ++j)
                if (columns[j] < c.channels)
                    store_piece(pieces[0][j], static_cast<T*>(g.gd) + static_cast<std::int64_t>(first) * c.channels,
                                c.channels, row[0], columns[j], rows);
        }
        if (with_matrix && share < shares)
            for (int k = 16 * share; k < whole; k += 16 * shares) {
                const Factor<T, false, true> left{tile_d + k * d_pitch, d_pitch};
                const Factor<T, false> right{tile_gz + k * z_pitch, z_pitch};
                multiply_block<T, tf32>(gmatrix, left, right, m, n, 16);
            }
    }
    if (!with_matrix)
        return;
    float* const to = g.gmatrix_parts + static_cast<std::int64_t>(blockIdx.x) * c.products * c.channels;
    if (shares == 1) {
#pragma unroll
        for (int i = 0; i < PieceRows; ++i)
#pragma unroll
            for (int j = 0; j < Columns; ++j)
                if (share < shares && n[j] < c.products)
                    store_transposed(gmatrix[i][j], to, c.channels, m[i], n[j]);
        return;
    }
    // The shares of a group are added in their order, each piece by all lanes of a warp.
    constexpr int pieces = PieceRows * Columns;
    float4* const sums = reinterpret_cast<float4*>(memory.gz); // [share][group][pieces][lanes]
    __syncthreads();                                           // nobody needs the tiles any more
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
        const auto& v = gmatrix[i / Columns][i % Columns].v;
        sums[(warp * pieces + i) * 32 + thread % 32] = make_float4(v[0], v[1], v[2], v[3]);
    }
    __syncthreads();
    for (int i = warp; i < groups * pieces; i += block_warps) {
        const int column = 8 * (i / pieces * Columns + i % Columns);
        if (column >= c.products)
            continue;
        float4 sum = sums[i * 32 + thread % 32];
        for (int other = 1; other < shares; ++other)
            add_to(sum, sums[(other * groups * pieces + i) * 32 + thread % 32]);
        store_transposed(Piece16x8{{sum.x, sum.y, sum.z, sum.w}}, to, c.channels, i % pieces / Columns * 16, column);
    }
}

template <class T, bool tf32>
void launch(const Pointwise& s, const PointwiseGradient& g, const LaunchStream& stream) {
    const Cut c = cut_gradient<T>(s);
    const int rows = piece_rows(s);
    const auto kernel = rows == 1   ? pointwise_gradient_kernel<T, tf32, 1>
                        : rows == 2 ? pointwise_gradient_kernel<T, tf32, 2>
                        : rows == 3 ? pointwise_gradient_kernel<T, tf32, 3>
                                    : pointwise_gradient_kernel<T, tf32, 4>;
    enqueue(kernel, dim3(static_cast<unsigned>(c.slices)), dim3(block_threads), Memory<T>(c, rows, nullptr).bytes,
            stream, g, c);
}

} // namespace

std::int64_t pointwise_gradient_parts(const Pointwise& s) {
    return size_of(s.type) == 2 ? cut_gradient<half>(s).slices : cut_gradient<float>(s).slices;
}

void launch_pointwise_gradient(const Pointwise& s, const PointwiseGradient& g, const LaunchStream& stream) {
    if (s.type == DType::f32)
        return s.tf32 ? launch<float, true>(s, g, stream) : launch<float, false>(s, g, stream);
    if (s.type == DType::f16)
        return launch<half, false>(s, g, stream);
    launch<bfloat16, false>(s, g, stream);
}

} // namespace espalier::cuda
