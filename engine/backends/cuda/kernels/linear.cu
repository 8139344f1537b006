// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/linear.h"
#include "backends/cuda/kernels/typed.cuh"

namespace espalier::cuda {
namespace {

// A block computes a tile of 32 x 32 results. Its warps share the inner dimension, because a classifier has few
// outputs: each sums its own chunks of it over the whole tile, then the eight sums are added in order.
constexpr int warps = 8;
constexpr int threads = 32 * warps;
constexpr int tile = 32;
constexpr int depth = 16;       ///< of a chunk
constexpr int pitch = tile + 4; ///< of a row in shared memory: rows stay on 16 bytes and spread over the banks

/// One warp's pieces of both factors, depth first; afterwards its sums.
union Scratch {
    struct {
        float a[depth][pitch], b[depth][pitch];
    } factors;
    float sums[tile][pitch];
};

/// A factor [outer, k]: element (i, k) is data[i * k_count + k] if the inner dimension is contiguous, else
/// data[k * outer + i].
template <bool inner_contiguous>
struct Factor {
    Source source;
    int outer, inner;

    /// Loads a chunk of 32 x 16 into registers, coalesced; zero beyond the edges.
    __device__ void load(int outer_begin, int inner_begin, int lane, float (&values)[depth]) const {
        // One branch for all sixteen, so that they are in flight together.
        switch (source.type) {
        case DType::f16:
            return load_of<half>(outer_begin, inner_begin, lane, values);
        case DType::bf16:
            return load_of<bfloat16>(outer_begin, inner_begin, lane, values);
        default:
            return load_of<float>(outer_begin, inner_begin, lane, values);
        }
    }
    static __device__ void store(const float (&values)[depth], int lane, float (&shared)[depth][pitch]) {
#pragma unroll
        for (int step = 0; step < depth; ++step) {
            int i, k;
            place(step, lane, i, k);
            shared[k][i] = values[step];
        }
    }

private:
    template <class T>
    __device__ void load_of(int outer_begin, int inner_begin, int lane, float (&values)[depth]) const {
        const auto* data = static_cast<const T*>(source.data);
#pragma unroll
        for (int step = 0; step < depth; ++step) {
            int i, k;
            place(step, lane, i, k);
            const int row = outer_begin + i, column = inner_begin + k;
            const int slow = inner_contiguous ? row : column, fast = inner_contiguous ? column : row;
            values[step] =
                row < outer && column < inner
                    ? to_float(data[static_cast<std::int64_t>(slow) * (inner_contiguous ? inner : outer) + fast])
                    : 0.0F;
        }
    }
    static __device__ void place(int step, int lane, int& i, int& k) {
        if constexpr (inner_contiguous) {
            i = 2 * step + lane / depth;
            k = lane % depth;
        } else {
            i = lane;
            k = step;
        }
    }
};

/// c [m, n] = sum over k of a(m, k) b(n, k), + bias[n].
template <bool a_inner, bool b_inner>
__global__ void __launch_bounds__(threads)
    product_kernel(Factor<a_inner> a, Factor<b_inner> b, const float* bias, Target c) {
    __shared__ Scratch scratch[warps];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const int m_begin = static_cast<int>(blockIdx.y) * tile, n_begin = static_cast<int>(blockIdx.x) * tile;
    const int chunks = (a.inner + depth - 1) / depth;
    auto& own = scratch[warp];
    // Eight by four results a lane: four rows of lanes, eight columns.
    const int m_lane = lane / 8 * 8, n_lane = lane % 8 * 4;
    float sums[8][4] = {};
    float a_next[depth], b_next[depth];
    if (warp < chunks) {
        a.load(m_begin, warp * depth, lane, a_next);
        b.load(n_begin, warp * depth, lane, b_next);
    }
    for (int chunk = warp; chunk < chunks; chunk += warps) {
        __syncwarp();
        a.store(a_next, lane, own.factors.a);
        b.store(b_next, lane, own.factors.b);
        __syncwarp();
        if (chunk + warps < chunks) { // in flight while this chunk is multiplied
            a.load(m_begin, (chunk + warps) * depth, lane, a_next);
            b.load(n_begin, (chunk + warps) * depth, lane, b_next);
        }
#pragma unroll
        for (int k = 0; k < depth; ++k) {
            const Eight x = load8(&own.factors.a[k][m_lane]);
            const float4 y = *reinterpret_cast<const float4*>(&own.factors.b[k][n_lane]);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                sums[i][0] += x.v[i] * y.x;
                sums[i][1] += x.v[i] * y.y;
                sums[i][2] += x.v[i] * y.z;
                sums[i][3] += x.v[i] * y.w;
            }
        }
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 8; ++i)
        *reinterpret_cast<float4*>(&own.sums[m_lane + i][n_lane]) =
            make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
    __syncthreads();
    const int used = min(chunks, warps);
    for (int at = static_cast<int>(threadIdx.x); at < tile * tile; at += threads) {
        const int m = m_begin + at / tile, n = n_begin + at % tile;
        if (m >= a.outer || n >= b.outer)
            continue;
        float sum = bias != nullptr ? bias[n] : 0.0F;
        for (int i = 0; i < used; ++i)
            sum += scratch[i].sums[at / tile][at % tile];
        c.set(static_cast<std::int64_t>(m) * b.outer + n, sum);
    }
}

template <bool a_inner, bool b_inner>
void launch(Matrix a, Matrix b, const float* bias, MutableMatrix c, std::int64_t rows, std::int64_t columns,
            std::int64_t inner, cudaStream_t stream) {
    const int m = static_cast<int>(rows), n = static_cast<int>(columns), k = static_cast<int>(inner);
    const dim3 grid(static_cast<unsigned>((n + tile - 1) / tile), static_cast<unsigned>((m + tile - 1) / tile));
    product_kernel<<<grid, threads, 0, stream>>>(Factor<a_inner>{{a.data, a.type}, m, k},
                                                 Factor<b_inner>{{b.data, b.type}, n, k}, bias, Target{c.data, c.type});
}

} // namespace

void launch_linear(Matrix x, Matrix w, const float* bias, MutableMatrix y, std::int64_t rows, std::int64_t in,
                   std::int64_t out, cudaStream_t stream) {
    launch<true, true>(x, w, bias, y, rows, out, in, stream);
}

void launch_linear_input_gradient(Matrix gy, Matrix w, MutableMatrix gx, std::int64_t rows, std::int64_t in,
                                  std::int64_t out, cudaStream_t stream) {
    launch<true, false>(gy, w, nullptr, gx, rows, in, out, stream);
}

void launch_linear_weight_gradient(Matrix x, Matrix gy, MutableMatrix gw, std::int64_t rows, std::int64_t in,
                                   std::int64_t out, cudaStream_t stream) {
    launch<false, false>(gy, x, nullptr, gw, out, in, rows, stream);
}

} // namespace espalier::cuda
