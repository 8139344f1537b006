// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/squares.cuh"

#include <type_traits>

/// Products of small matrices in shared memory, blocks of pieces of 16 x 8 results a warp: on tensor cores, or exactly.
namespace espalier::cuda {

/// Elements from one row of a matrix in shared memory to the next: rows stay on 16 bytes, and eight of them spread over
/// all banks (an odd multiple of 16 bytes). Columns are a multiple of 8.
template <class T>
__host__ __device__ constexpr int product_pitch(int columns) {
    if (sizeof(T) == 2)
        return columns % 16 == 0 ? columns + 8 : columns;
    return columns + 4;
}

/// A matrix in shared memory. `along`: whether the summed dimension is the contiguous one. `raw`: not rounded for
/// tensor cores (as_factor) yet.
template <class T, bool along, bool raw = false>
struct Factor {
    const T* data;
    int pitch;
    __device__ const T* at(int i, int k) const { return along ? data + i * pitch + k : data + k * pitch + i; }
};

/// A value as a factor: tensor cores want it rounded to tf32.
template <bool tf32>
__device__ float as_factor(float x) {
#if __CUDA_ARCH__ >= 800
    if constexpr (tf32) {
        std::uint32_t bits;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
        return __uint_as_float(bits);
    }
#endif
    return x;
}
template <bool tf32>
__device__ Eight as_factor(Eight x) {
#pragma unroll
    for (float& v : x.v)
        v = as_factor<tf32>(v);
    return x;
}

namespace detail {

template <int M, int N, class A, class B>
__device__ void multiply_exactly(Piece16x8 (&c)[M][N], const A& a, const B& b, const int (&m)[M], const int (&n)[N],
                                 int depth) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (int k = 0; k < depth; ++k) {
        float top[M], bottom[M];
#pragma unroll
        for (int i = 0; i < M; ++i) {
            top[i] = to_float(*a.at(m[i] + lane / 4, k));
            bottom[i] = to_float(*a.at(m[i] + lane / 4 + 8, k));
        }
#pragma unroll
        for (int j = 0; j < N; ++j) {
            const int column = n[j] + lane % 4 * 2;
            const float left = to_float(*b.at(column, k)), right = to_float(*b.at(column + 1, k));
#pragma unroll
            for (int i = 0; i < M; ++i) {
                float(&v)[4] = c[i][j].v;
                v[0] = fmaf(top[i], left, v[0]);
                v[1] = fmaf(top[i], right, v[1]);
                v[2] = fmaf(bottom[i], left, v[2]);
                v[3] = fmaf(bottom[i], right, v[3]);
            }
        }
    }
}

#if __CUDA_ARCH__ >= 800

/// The rows of squares of a factor as load_squares wants them: square s begins at the outer index i + 8 (s % outers),
/// and 16 bytes a square further along the summed one.
template <class T, bool along, bool raw>
__device__ const T* square_row(const Factor<T, along, raw>& f, int i, int k, int outers) {
    const int lane = static_cast<int>(threadIdx.x) % 32, square = lane / 8, row = lane % 8;
    i += square % outers * 8;
    k += square / outers * (16 / static_cast<int>(sizeof(T)));
    return along ? f.at(i + row, k) : f.at(i, k + row);
}

template <int count, bool along, bool raw, bool paired>
__device__ void load_tf32(std::uint32_t (&r)[count], const Factor<float, along, raw>& f, int first, int k) {
    constexpr int outers = count / 2; // squares side by side
    if constexpr (along) {
        static_assert(!raw && !paired);
        load_squares<count, false>(r, square_row(f, first, k, outers));
    } else {
        const int lane = static_cast<int>(threadIdx.x) % 32, group = lane / 4, t = lane % 4;
#pragma unroll
        for (int i = 0; i < count; ++i)
            r[i] = __float_as_uint(as_factor<raw>(
                *f.at(first + group + i % outers * 8, paired ? k + 2 * t + i / outers : k + t + 4 * (i / outers))));
    }
}

template <int M, int N, bool a_along, bool a_raw, bool b_along, bool b_raw>
__device__ void multiply_tf32(Piece16x8 (&c)[M][N], const Factor<float, a_along, a_raw>& a,
                              const Factor<float, b_along, b_raw>& b, const int (&m)[M], const int (&n)[N], int depth) {
    // The eight summands of a step may stand in any order, if in both factors the same: in pairs, rows of a
    // product_pitch meet no bank twice.
    constexpr bool paired = !a_along && !b_along;
#pragma unroll 2
    for (int k = 0; k < depth; k += 8) {
        std::uint32_t x[M][4];
#pragma unroll
        for (int i = 0; i < M; ++i)
            load_tf32<4, a_along, a_raw, paired>(x[i], a, m[i], k);
#pragma unroll
        for (int j = 0; j < N; ++j) {
            std::uint32_t y[2];
            load_tf32<2, b_along, b_raw, paired>(y, b, n[j], k);
#pragma unroll
            for (int i = 0; i < M; ++i)
                multiply_squares(c[i][j], x[i], y, float{});
        }
    }
}

template <int M, int N, class T, bool a_along, bool a_raw, bool b_along, bool b_raw>
__device__ void multiply_halves(Piece16x8 (&c)[M][N], const Factor<T, a_along, a_raw>& a,
                                const Factor<T, b_along, b_raw>& b, const int (&m)[M], const int (&n)[N], int depth) {
    const auto step = [&](auto eights, int k) {
        constexpr int width = decltype(eights)::value; // of the summands
        std::uint32_t x[M][2 * width];
#pragma unroll
        for (int i = 0; i < M; ++i)
            load_squares<2 * width, !a_along>(x[i], square_row(a, m[i], k, 2));
#pragma unroll
        for (int j = 0; j < N; ++j) {
            std::uint32_t y[width];
            load_squares<width, !b_along>(y, square_row(b, n[j], k, 1));
#pragma unroll
            for (int i = 0; i < M; ++i)
                multiply_squares(c[i][j], x[i], y, T{});
        }
    };
    int k = 0;
#pragma unroll 2
    for (; k + 16 <= depth; k += 16)
        step(std::integral_constant<int, 2>{}, k);
    if (k < depth)
        step(std::integral_constant<int, 1>{}, k);
}

#endif

} // namespace detail

/// c[p][q](i, j) += sum over k < depth of a(m[p] + i, k) b(n[q] + j, k), by one warp, which reads each factor once for
/// all pieces. `depth` is a multiple of 8, and so are m, n and the pitches. Rows beyond the last are read, and give
/// results that nobody should use.
template <class T, bool tf32, int M, int N, bool a_along, bool a_raw, bool b_along, bool b_raw>
__device__ void multiply_block(Piece16x8 (&c)[M][N], const Factor<T, a_along, a_raw>& a,
                               const Factor<T, b_along, b_raw>& b, const int (&m)[M], const int (&n)[N], int depth) {
#if __CUDA_ARCH__ >= 800
    if constexpr (sizeof(T) == 2)
        detail::multiply_halves(c, a, b, m, n, depth);
    else if constexpr (tf32)
        detail::multiply_tf32(c, a, b, m, n, depth);
    else
#endif
        detail::multiply_exactly(c, a, b, m, n, depth);
}
template <class T, bool tf32, class A, class B>
__device__ void multiply_piece(Piece16x8& c, const A& a, const B& b, int m, int n, int depth) {
    Piece16x8 pieces[1][1] = {{c}};
    multiply_block<T, tf32>(pieces, a, b, {m}, {n}, depth);
    c = pieces[0][0];
}

/// Writes a piece into a matrix in shared or global memory, two neighbours at once; rows from `rows` on are left out.
template <class T>
__device__ void store_piece(const Piece16x8& c, T* to, int pitch, int m, int n, int rows) {
    const int lane = static_cast<int>(threadIdx.x) % 32, column = n + lane % 4 * 2;
#pragma unroll
    for (int half_piece = 0; half_piece < 2; ++half_piece) {
        const int row = m + lane / 4 + 8 * half_piece;
        if (row >= rows)
            continue;
        T* at = to + row * pitch + column;
        const float low = c.v[2 * half_piece], high = c.v[2 * half_piece + 1];
        if constexpr (sizeof(T) == 4)
            *reinterpret_cast<float2*>(at) = make_float2(low, high);
        else if constexpr (std::is_same_v<T, half>)
            *reinterpret_cast<__half2*>(at) = __floats2half2_rn(low, high);
        else
            *reinterpret_cast<__nv_bfloat162*>(at) = __floats2bfloat162_rn(low, high);
    }
}

} // namespace espalier::cuda
