// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/pointwise.h"
#include "backends/cuda/kernels/pointwise_tile.cuh"

namespace espalier::cuda {
namespace {

using namespace pointwise;

/// Shared memory of a block.
template <class T>
struct Memory {
    T* gz;           ///< [tile_rows][pitch]: the gradient of the pointwise result
    T* d;            ///< [tile_rows][pitch]
    T* gd;           ///< [tile_rows][pitch]
    T* matrix;       ///< transposed, [channels][pitch]
    float* gradient; ///< coefficients of gz, [3][products]
    std::size_t bytes;

    __host__ __device__ Memory(const Cut& c, unsigned char* base) {
        Carver carve(base);
        // A piece of a product may reach 8 columns beyond the last row.
        gz = carve.take<T>(c.tile_rows * product_pitch<T>(c.products) + 8);
        d = carve.take<T>(c.tile_rows * product_pitch<T>(c.channels) + 8);
        gd = carve.take<T>(c.tile_rows * product_pitch<T>(c.channels));
        matrix = carve.take<T>(c.channels * product_pitch<T>(c.products));
        gradient = carve.take<float>(3 * c.products);
        bytes = carve.bytes();
    }
};

/// `Pieces`: of the matrix's gradient, a warp.
template <class T, bool tf32, int Pieces>
__global__ void __launch_bounds__(block_threads, 3) pointwise_gradient_kernel(PointwiseGradient g, Cut c) {
    extern __shared__ float4 shared[];
    const Memory<T> memory(c, reinterpret_cast<unsigned char*>(shared));
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    const int z_pitch = product_pitch<T>(c.products), d_pitch = product_pitch<T>(c.channels);

    const Columns of_z(c.products), of_d(c.channels);
    const int begin = static_cast<int>(blockIdx.x) * c.slice_rows, end = min(begin + c.slice_rows, c.rows);

    take_turn();
    // Ioffe and Szegedy, "Batch Normalization" (2015), section 3: gz = scale gy + slope z + offset.
    for (int i = thread; i < c.products; i += block_threads) {
        const float count = static_cast<float>(c.rows), inv_std = g.inv_std[i];
        const float scale = inv_std * (g.weight != nullptr ? g.weight[i] : 1.0F);
        const float slope = -scale * inv_std * g.gweight[i] / count;
        memory.gradient[i] = scale;
        memory.gradient[c.products + i] = slope;
        memory.gradient[2 * c.products + i] = -scale * g.gbias[i] / count - slope * g.mean[i];
    }
    for (int i = thread; i < c.products * c.channels / 8; i += block_threads) {
        auto column = static_cast<std::uint32_t>(i);
        const auto row = c.channel_eights.split(column);
        const Eight values = as_factor<tf32>(load8(static_cast<const T*>(g.matrix) + 8 * i));
#pragma unroll
        for (int j = 0; j < 8; ++j)
            memory.matrix[(8 * static_cast<int>(column) + j) * z_pitch + static_cast<int>(row)] =
                from_float<T>(values.v[j]);
    }

    // Piece i of `pieces`: rows from m, columns from n.
    const auto place = [&](int i, int& m, int& n) {
        auto column = static_cast<std::uint32_t>(i);
        m = static_cast<int>(c.channel_eights.split(column)) * 16;
        n = static_cast<int>(column) * 8;
    };
    const int z_pieces = (c.products + 15) / 16 * (c.channels / 8);
    Piece16x8 gmatrix[Pieces];
    for (int first = begin; first < end; first += c.tile_rows) {
        const int rows = min(c.tile_rows, end - first), whole = (rows + 15) / 16 * 16;
        const auto first_z = static_cast<std::int64_t>(first) * c.products,
                   first_d = static_cast<std::int64_t>(first) * c.channels;
        __syncthreads(); // the tile before is done with everything
        if (of_z.active()) {
            const T *gy = static_cast<const T*>(g.gy) + first_z, *z = static_cast<const T*>(g.z) + first_z;
            const Eight scale = load8(memory.gradient + of_z.column),
                        slope = load8(memory.gradient + c.products + of_z.column),
                        offset = load8(memory.gradient + 2 * c.products + of_z.column);
#pragma unroll 2
            for (int row = of_z.lane; row < whole; row += of_z.lanes) {
                Eight value{};
                if (row < rows) {
                    const int at = row * c.products + of_z.column;
                    const Eight from = load8(gy + at), normalised = load8(z + at);
#pragma unroll
                    for (int j = 0; j < 8; ++j)
                        value.v[j] = fmaf(scale.v[j], from.v[j], fmaf(slope.v[j], normalised.v[j], offset.v[j]));
                }
                store8(memory.gz + row * z_pitch + of_z.column, as_factor<tf32>(value));
            }
        }
        if (of_d.active() && g.gmatrix_parts != nullptr) {
            const T* d = static_cast<const T*>(g.d) + first_d;
#pragma unroll 2
            for (int row = of_d.lane; row < whole; row += of_d.lanes) {
                Packed<T> packed{};
                if (row < rows)
                    packed = load_packed(d + row * c.channels + of_d.column);
                if constexpr (tf32)
                    store8(memory.d + row * d_pitch + of_d.column, as_factor<tf32>(unpack(packed)));
                else
                    *reinterpret_cast<Packed<T>*>(memory.d + row * d_pitch + of_d.column) = packed;
            }
        }
        __syncthreads();

        const Factor<T, true> gz{memory.gz, z_pitch};
        const Factor<T, true> matrix{memory.matrix, z_pitch};
        const int pieces = whole / 16 * (c.channels / 8);
        for (int i = warp; i < pieces; i += block_warps) {
            int m, n;
            place(i, m, n);
            Piece16x8 piece;
            multiply_piece<T, tf32>(piece, gz, matrix, m, n, c.products);
            store_piece(piece, memory.gd, d_pitch, m, n, rows);
        }
        if (g.gmatrix_parts != nullptr) {
            const Factor<T, false> left{memory.gz, z_pitch}, right{memory.d, d_pitch};
#pragma unroll
            for (int p = 0; p < Pieces; ++p)
                if (const int i = warp + p * block_warps; i < z_pieces) {
                    int m, n;
                    place(i, m, n);
                    multiply_piece<T, tf32>(gmatrix[p], left, right, m, n, whole);
                }
        }
        __syncthreads();
        if (of_d.active()) {
            T* gd = static_cast<T*>(g.gd) + first_d;
#pragma unroll 2
            for (int row = of_d.lane; row < rows; row += of_d.lanes)
                *reinterpret_cast<Packed<T>*>(gd + row * c.channels + of_d.column) =
                    load_packed(memory.gd + row * d_pitch + of_d.column);
        }
    }
    if (g.gmatrix_parts == nullptr)
        return;
    float* to = g.gmatrix_parts + static_cast<std::int64_t>(blockIdx.x) * c.products * c.channels;
#pragma unroll
    for (int p = 0; p < Pieces; ++p)
        if (const int i = warp + p * block_warps; i < z_pieces) {
            int m, n;
            place(i, m, n);
            store_piece(gmatrix[p], to, c.channels, m, n, c.products);
        }
}

template <class T, bool tf32>
void launch(const Pointwise& s, const PointwiseGradient& g, const LaunchStream& stream) {
    const Cut c = cut(s);
    const int pieces = (c.products + 15) / 16 * (c.channels / 8);
    const auto kernel = pieces <= block_warps       ? pointwise_gradient_kernel<T, tf32, 1>
                        : pieces <= 2 * block_warps ? pointwise_gradient_kernel<T, tf32, 2>
                                                    : pointwise_gradient_kernel<T, tf32, 4>;
    enqueue(kernel, dim3(static_cast<unsigned>(c.slices)), dim3(block_threads), Memory<T>(c, nullptr).bytes, stream, g,
            c);
}

} // namespace

void launch_pointwise_gradient(const Pointwise& s, const PointwiseGradient& g, const LaunchStream& stream) {
    if (s.type == DType::f32)
        return s.tf32 ? launch<float, true>(s, g, stream) : launch<float, false>(s, g, stream);
    if (s.type == DType::f16)
        return launch<half, false>(s, g, stream);
    launch<bfloat16, false>(s, g, stream);
}

} // namespace espalier::cuda
