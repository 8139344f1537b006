// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/ceil_divide.h"
#include "backends/cuda/kernels/pointwise.h"
#include "backends/cuda/kernels/pointwise_tile.cuh"
#include "backends/cuda/kernels/weights.cuh"

#include <cuda_pipeline_primitives.h>

#include <algorithm>

namespace espalier::cuda {
namespace {

using namespace pointwise;

constexpr int blocks_together = 3; ///< of a multiprocessor

/// Channels of a thread: 16 bytes, so that neighbours meet no bank of shared memory twice.
template <class T>
struct Few {
    static constexpr int count = 16 / sizeof(T);
    float v[count] = {};
};
template <class T>
__device__ Few<T> load_few(const T* p) {
    Few<T> few;
    if constexpr (sizeof(T) == 4) {
        const float4 from = *reinterpret_cast<const float4*>(p);
        few.v[0] = from.x, few.v[1] = from.y, few.v[2] = from.z, few.v[3] = from.w;
    } else {
        const Eight from = load8(p);
#pragma unroll
        for (int j = 0; j < few.count; ++j)
            few.v[j] = from.v[j];
    }
    return few;
}
template <bool tf32, class T>
__device__ void store_few(T* p, const Few<T>& few) {
    if constexpr (sizeof(T) == 4) {
        *reinterpret_cast<float4*>(p) = make_float4(as_factor<tf32>(few.v[0]), as_factor<tf32>(few.v[1]),
                                                    as_factor<tf32>(few.v[2]), as_factor<tf32>(few.v[3]));
    } else {
        Eight to;
#pragma unroll
        for (int j = 0; j < few.count; ++j)
            to.v[j] = few.v[j];
        store8(p, to);
    }
}

/// Threads that each keep to a few channels: `lanes` rows side by side.
template <class T>
struct FewColumns {
    static constexpr int idle = 1 << 20; ///< beyond every row
    int lanes, column, lane;
    __device__ explicit FewColumns(int channels) {
        const int vectors = channels / Few<T>::count, thread = static_cast<int>(threadIdx.x);
        lanes = block_threads / vectors;
        column = thread % vectors * Few<T>::count;
        lane = thread / vectors < lanes ? thread / vectors : idle;
    }
};

/// Elements from one row to the next of a factor whose rows are summed alone: on tensor cores lanes read four rows of
/// eight floats at once, which meet no bank twice at odd multiples of eight.
template <class T>
__host__ __device__ constexpr int summed_pitch(int columns) {
    return sizeof(T) == 2 ? product_pitch<T>(columns) : columns % 16 == 8 ? columns : columns + 8;
}

/// Slices that fill the card once, so that there are few parts of the matrix's gradient. A slice of several tiles loads
/// one while it multiplies the one before: tiles are small, about one eight of channels a thread and tensor.
Cut cut_gradient(const Pointwise& s) {
    const auto sixteens = [&](std::int64_t rows) { return ceil_divide(rows, 16) * 16; };
    const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
    constexpr std::int64_t least_rows = 32; // fewer do not pay for a block's beginning and end
    // Of the widest there is shared memory for two.
    const auto together = s.type == DType::f32 && s.channels + s.products > 112 ? 2 : blocks_together;
    const auto rows = std::max(sixteens(ceil_divide(s.rows, together * s.multiprocessors)), least_rows);
    const auto lanes = block_threads / (std::max(s.channels, s.products) / 8);
    auto tiles = ceil_divide(rows, std::max(lanes / 16 * 16, least_rows));
    if (tiles == 1 && rows >= 2 * least_rows)
        tiles = 2;
    Cut c;
    c.rows = as_int(s.rows);
    c.slice_rows = as_int(rows);
    c.slices = as_int(ceil_divide(s.rows, rows));
    c.tile_rows = as_int(sixteens(ceil_divide(rows, tiles)));
    c.channels = as_int(s.channels), c.products = as_int(s.products);
    c.channel_eights = Divisor(s.channels / 8);
    c.product_eights = Divisor(s.products / 8);
    return c;
}

/// Shared memory of a block. What a tile reads is there twice, where a slice has several tiles.
template <class T>
struct Memory {
    T* gz;           ///< [tile_rows][pitch]: gy as it comes, then the gradient of the pointwise result
    T* z;            ///< [tile_rows][pitch]
    T* d;            ///< [tile_rows][summed_pitch]
    int next;        ///< elements from these to those of the next tile
    T* gd;           ///< [tile_rows][pitch]
    T* matrix;       ///< transposed, [channels][pitch]
    float* gradient; ///< coefficients of gz, [3][products]
    std::size_t bytes;

    __host__ __device__ Memory(const Cut& c, unsigned char* base) {
        Carver carve(base);
        gz = carve.take<T>(c.tile_rows * product_pitch<T>(c.products));
        z = carve.take<T>(c.tile_rows * product_pitch<T>(c.products));
        // A piece of a product may reach 8 columns beyond the last row.
        d = carve.take<T>(c.tile_rows * summed_pitch<T>(c.channels) + 8);
        next = static_cast<int>(carve.bytes() / sizeof(T));
        if (c.slice_rows > c.tile_rows)
            carve.take<T>(next);
        gd = carve.take<T>(c.tile_rows * product_pitch<T>(c.channels));
        matrix = carve.take<T>(c.channels * product_pitch<T>(c.products));
        gradient = carve.take<float>(3 * c.products);
        // At the end a piece of each warp, in the place of everything.
        if (constexpr std::size_t sums = sizeof(Piece16x8) * block_threads; carve.bytes() < sums)
            carve.take<unsigned char>(static_cast<int>(sums - carve.bytes()));
        bytes = carve.bytes();
    }
};

template <class T, bool along>
__device__ Factor<T, along> beyond(const Factor<T, along>& f, int k) {
    return {along ? f.data + k : f.data + k * f.pitch, f.pitch};
}

/// multiply_piece in steps whose length is known to the compiler.
template <class T, bool tf32, bool a_along, bool b_along>
__device__ void multiply_steps(Piece16x8& c, const Factor<T, a_along>& a, const Factor<T, b_along>& b, int m, int n,
                               int depth) {
    int k = 0;
    for (; k + 16 <= depth; k += 16)
        multiply_piece<T, tf32>(c, beyond(a, k), beyond(b, k), m, n, 16);
    if (k < depth)
        multiply_piece<T, tf32>(c, beyond(a, k), beyond(b, k), m, n, 8);
}

/// Of the matrix's gradient, whose rows are channels.
__host__ __device__ inline int pieces_of_matrix(const Cut& c) { return (c.channels + 15) / 16 * (c.products / 8); }

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

/// `Pieces`: of the matrix's gradient, a warp.
template <class T, bool tf32, int Pieces>
__global__ void __launch_bounds__(block_threads, blocks_together)
    pointwise_gradient_kernel(PointwiseGradient g, Cut c) {
    extern __shared__ float4 shared[];
    const Memory<T> memory(c, reinterpret_cast<unsigned char*>(shared));
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    const int z_pitch = product_pitch<T>(c.products), d_pitch = summed_pitch<T>(c.channels),
              gd_pitch = product_pitch<T>(c.channels);
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
    };

    take_turn();
    begin_tile(begin, 0);
    __pipeline_commit();
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

    // Piece i of a product with so many pieces side by side: rows from m, columns from n.
    const auto place = [](int i, const Divisor& across, int& m, int& n) {
        auto column = static_cast<std::uint32_t>(i);
        m = static_cast<int>(across.split(column)) * 16;
        n = static_cast<int>(column) * 8;
    };
    const int matrix_pieces = with_matrix ? pieces_of_matrix(c) : 0;
    // Where there are fewer pieces of it than warps, some warps share the rows of a piece.
    int shares = 1;
    if constexpr (Pieces == 1)
        while (2 * shares * matrix_pieces <= block_warps && 2 * shares <= block_warps)
            shares *= 2;
    const int across = block_warps / shares, matrix_warp = warp % across, share = warp / across;
    Piece16x8 gmatrix[Pieces]; // transposed: [channels][products]
    int at = 0;
    for (int first = begin; first < end; first += c.tile_rows, at = memory.next - at) {
        const int rows = min(c.tile_rows, end - first), whole = (rows + 15) / 16 * 16;
        T *const tile_gz = memory.gz + at, *const tile_z = memory.z + at, *const tile_d = memory.d + at;
        // Into the place of the tile before this one, whose products are behind a barrier.
        if (first + c.tile_rows < end)
            begin_tile(first + c.tile_rows, memory.next - at);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        if (first == begin)
            __syncthreads(); // coefficients and matrix
        if (of_z.lane < whole) {
            Few<T> scale, slope, offset;
#pragma unroll
            for (int j = 0; j < Few<T>::count; ++j) {
                scale.v[j] = memory.gradient[of_z.column + j];
                slope.v[j] = memory.gradient[c.products + of_z.column + j];
                offset.v[j] = memory.gradient[2 * c.products + of_z.column + j];
            }
            for (int row = of_z.lane; row < whole; row += of_z.lanes) {
                T* const to = tile_gz + row * z_pitch + of_z.column;
                Few<T> value;
                if (row < rows) {
                    const Few<T> from = load_few(to), normalised = load_few(tile_z + row * z_pitch + of_z.column);
#pragma unroll
                    for (int j = 0; j < Few<T>::count; ++j)
                        value.v[j] = fmaf(scale.v[j], from.v[j], fmaf(slope.v[j], normalised.v[j], offset.v[j]));
                }
                store_few<tf32>(to, value);
            }
        }
        if (with_matrix)
            for (int row = of_d.lane; row < whole; row += of_d.lanes) {
                T* const to = tile_d + row * d_pitch + of_d.column;
                if (row >= rows)
                    store_few<tf32>(to, Few<T>{});
                else if constexpr (tf32)
                    store_few<tf32>(to, load_few(to));
            }
        __syncthreads();

        const Factor<T, true> gz{tile_gz, z_pitch}, matrix{memory.matrix, z_pitch};
        const int pieces = whole / 16 * (c.channels / 8);
        for (int i = warp; i < pieces; i += block_warps) {
            int m, n;
            place(i, c.channel_eights, m, n);
            Piece16x8 piece;
            multiply_steps<T, tf32>(piece, gz, matrix, m, n, c.products);
            store_piece(piece, memory.gd, gd_pitch, m, n, rows);
        }
        const Factor<T, false> left{tile_d, d_pitch}, right{tile_gz, z_pitch};
        for (int k = 16 * share; k < whole; k += 16 * shares)
#pragma unroll
            for (int p = 0; p < Pieces; ++p)
                if (const int i = matrix_warp + p * block_warps; i < matrix_pieces) {
                    int m, n;
                    place(i, c.product_eights, m, n);
                    multiply_piece<T, tf32>(gmatrix[p], beyond(left, k), beyond(right, k), m, n, 16);
                }
        __syncthreads();
        T* gd = static_cast<T*>(g.gd) + static_cast<std::int64_t>(first) * c.channels + of_d.column;
#pragma unroll 2
        for (int row = of_d.lane; row < rows; row += of_d.lanes)
            *reinterpret_cast<uint4*>(gd + row * c.channels) =
                *reinterpret_cast<const uint4*>(memory.gd + row * gd_pitch + of_d.column);
    }
    if (!with_matrix)
        return;
    if (shares > 1) {
        float4* const sums = reinterpret_cast<float4*>(memory.gz) + thread; // [share][across][lanes]
        __syncthreads();                                                    // nobody needs the tiles any more
        *sums = make_float4(gmatrix[0].v[0], gmatrix[0].v[1], gmatrix[0].v[2], gmatrix[0].v[3]);
        __syncthreads();
        if (share > 0)
            return;
        for (int other = 1; other < shares; ++other) {
            const float4 more = sums[32 * across * other];
            gmatrix[0].v[0] += more.x, gmatrix[0].v[1] += more.y;
            gmatrix[0].v[2] += more.z, gmatrix[0].v[3] += more.w;
        }
    }
    float* to = g.gmatrix_parts + static_cast<std::int64_t>(blockIdx.x) * c.products * c.channels;
#pragma unroll
    for (int p = 0; p < Pieces; ++p)
        if (const int i = matrix_warp + p * block_warps; i < matrix_pieces) {
            int m, n;
            place(i, c.product_eights, m, n);
            store_transposed(gmatrix[p], to, c.channels, m, n);
        }
}

template <class T, bool tf32>
void launch(const Pointwise& s, const PointwiseGradient& g, const LaunchStream& stream) {
    const Cut c = cut_gradient(s);
    const int pieces = pieces_of_matrix(c);
    const auto kernel = pieces <= block_warps       ? pointwise_gradient_kernel<T, tf32, 1>
                        : pieces <= 2 * block_warps ? pointwise_gradient_kernel<T, tf32, 2>
                                                    : pointwise_gradient_kernel<T, tf32, 4>;
    enqueue(kernel, dim3(static_cast<unsigned>(c.slices)), dim3(block_threads), Memory<T>(c, nullptr).bytes, stream, g,
            c);
}

} // namespace

std::int64_t pointwise_gradient_parts(const Pointwise& s) { return cut_gradient(s).slices; }

void launch_pointwise_gradient(const Pointwise& s, const PointwiseGradient& g, const LaunchStream& stream) {
    if (s.type == DType::f32)
        return s.tf32 ? launch<float, true>(s, g, stream) : launch<float, false>(s, g, stream);
    if (s.type == DType::f16)
        return launch<half, false>(s, g, stream);
    launch<bfloat16, false>(s, g, stream);
}

} // namespace espalier::cuda
