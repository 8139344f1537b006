// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/four.cuh"
#include "backends/cuda/kernels/pointwise.h"
#include "backends/cuda/kernels/pointwise_gradient_tile.cuh"

namespace espalier::cuda {
namespace {

using namespace pointwise;

/// Into a matrix with its rows as columns, of which there are `columns`.
__device__ void store_transposed(const Piece16x8& piece, float* to, int columns, int m, int n) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int column = m + lane / 4 + i / 2 * 8, row = n + lane % 4 * 2 + i % 2;
        if (column < columns)
            to[row * columns + column] = piece.v[i];
    }
}

/// The gradient of d, of the tile whose first row is `first`. `later`: warps that have other work, and come last.
template <class T, bool tf32>
__device__ void multiply_gradient(const PointwiseGradient& g, const Cut& c, const GradientTile<T>& tile,
                                  const T* transposed, int later, int first, int rows) {
    const Factor<T, true> gz{tile.gz, tile.z_pitch}, matrix{transposed, tile.z_pitch};
    const int strips = (rows + 15) / 16, warp = static_cast<int>(threadIdx.x) / 32;
    for (int task = (warp + block_warps - later) % block_warps; task < strips * groups_of(c.channels, gradient_columns);
         task += block_warps) {
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
}

/// The gradient of the matrix, transposed: a warp sums all channels by some of the products over a share of the rows.
template <class T, bool tf32, int PieceRows>
class MatrixGradient {
public:
    static constexpr int Columns = matrix_columns(PieceRows), pieces = PieceRows * Columns;

    __device__ explicit MatrixGradient(const Cut& c)
        : groups_(groups_of(c.products, Columns)), shares_(block_warps / groups_), warp_(threadIdx.x / 32),
          share_(warp_ / groups_) {
#pragma unroll
        for (int i = 0; i < PieceRows; ++i)
            m_[i] = 16 * i;
#pragma unroll
        for (int j = 0; j < Columns; ++j)
            n_[j] = 8 * (warp_ % groups_ * Columns + j);
    }
    /// Warps that have a share.
    [[nodiscard]] __device__ int busy() const { return groups_ * shares_; }

    __device__ void add(const GradientTile<T>& tile, int whole) {
        if (share_ >= shares_)
            return;
        for (int k = 16 * share_; k < whole; k += 16 * shares_) {
            const Factor<T, false, true> left{tile.d + k * tile.d_pitch, tile.d_pitch};
            const Factor<T, false> right{tile.gz + k * tile.z_pitch, tile.z_pitch};
            multiply_block<T, tf32>(sums_, left, right, m_, n_, 16);
        }
    }

    /// `free`: shared memory of the block, which nobody needs any more behind a barrier.
    __device__ void store(const Cut& c, float* to, void* free) const {
        if (shares_ == 1) {
#pragma unroll
            for (int i = 0; i < PieceRows; ++i)
#pragma unroll
                for (int j = 0; j < Columns; ++j)
                    if (share_ < shares_ && n_[j] < c.products)
                        store_transposed(sums_[i][j], to, c.channels, m_[i], n_[j]);
            return;
        }
        // The shares of a group are added in their order, each piece by all lanes of a warp.
        float4* const shared = static_cast<float4*>(free); // [share][group][pieces][lanes]
        const int lane = static_cast<int>(threadIdx.x) % 32;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < pieces; ++i) {
            const auto& v = sums_[i / Columns][i % Columns].v;
            shared[(warp_ * pieces + i) * 32 + lane] = make_float4(v[0], v[1], v[2], v[3]);
        }
        __syncthreads();
        for (int i = warp_; i < groups_ * pieces; i += block_warps) {
            const int column = 8 * (i / pieces * Columns + i % Columns);
            if (column >= c.products)
                continue;
            float4 sum = shared[i * 32 + lane];
            for (int other = 1; other < shares_; ++other)
                add_to(sum, shared[(other * groups_ * pieces + i) * 32 + lane]);
            store_transposed(Piece16x8{{sum.x, sum.y, sum.z, sum.w}}, to, c.channels, i % pieces / Columns * 16,
                             column);
        }
    }

private:
    int groups_, shares_, warp_, share_;
    int m_[PieceRows], n_[Columns];
    Piece16x8 sums_[PieceRows][Columns];
};

template <class T, bool tf32, int PieceRows>
__global__ void __launch_bounds__(block_threads, blocks_together)
    pointwise_gradient_kernel(PointwiseGradient g, Cut c) {
    extern __shared__ float4 shared[];
    const GradientMemory<T> memory(c, PieceRows, reinterpret_cast<unsigned char*>(shared));
    const bool with_matrix = g.gmatrix_parts != nullptr;
    const int begin = static_cast<int>(blockIdx.x) * c.slice_rows, end = min(begin + c.slice_rows, c.rows);

    take_turn();
    GradientTile<T>(memory, c, 0).fetch(g, c, begin, min(c.tile_rows, end - begin));
    store_coefficients(g, c, memory.gradient);
    store_matrix<T, tf32>(g, c, memory.matrix);

    MatrixGradient<T, tf32, PieceRows> gmatrix(c);
    int at = 0;
    for (int first = begin; first < end; first += c.tile_rows, at = memory.next - at) {
        const int rows = min(c.tile_rows, end - first), whole = (rows + 15) / 16 * 16;
        const GradientTile<T> tile(memory, c, at);
        __pipeline_wait_prior(0);
        if (first == begin)
            __syncthreads(); // coefficients and matrix
        tile.template finish<tf32>(memory, c, with_matrix, rows, whole);
        __syncthreads();
        // Into the place of the tile before this one, whose products are behind the barrier.
        if (const int next = first + c.tile_rows; next < end)
            GradientTile<T>(memory, c, memory.next - at).fetch(g, c, next, min(c.tile_rows, end - next));
        multiply_gradient<T, tf32>(g, c, tile, memory.matrix, gmatrix.busy(), first, rows);
        if (with_matrix)
            gmatrix.add(tile, whole);
    }
    if (with_matrix)
        gmatrix.store(c, g.gmatrix_parts + static_cast<std::int64_t>(blockIdx.x) * c.products * c.channels, memory.gz);
}

template <class T, bool tf32>
void launch(const Pointwise& s, const PointwiseGradient& g, const LaunchStream& stream) {
    const Cut c = cut_gradient<T>(s);
    const int rows = piece_rows(s);
    const auto kernel = rows == 1   ? pointwise_gradient_kernel<T, tf32, 1>
                        : rows == 2 ? pointwise_gradient_kernel<T, tf32, 2>
                        : rows == 3 ? pointwise_gradient_kernel<T, tf32, 3>
                                    : pointwise_gradient_kernel<T, tf32, 4>;
    enqueue(kernel, dim3(static_cast<unsigned>(c.slices)), dim3(block_threads),
            GradientMemory<T>(c, rows, nullptr).bytes, stream, g, c);
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
