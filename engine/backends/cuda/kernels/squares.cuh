// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/common.cuh"

/// What tensor cores work on, as a warp has it in registers: squares of 8 rows of 16 bytes (ldmatrix), and pieces of 16
/// x 8 sums (mma; the fragments of the PTX manual, "Matrix multiply-accumulate operation using mma instruction").
namespace espalier::cuda {

/// A lane's results: rows lane / 4 and that + 8, columns 2 (lane % 4) and that + 1.
struct Piece16x8 {
    float v[4] = {};
};

#if __CUDA_ARCH__ >= 800

/// Four, two or one squares of 8 rows of 16 bytes; lanes 8i ... 8i + 7 give the rows of square i as they lie in memory.
/// A lane gets four bytes of row lane / 4 of each; `transposed`, for halves alone, two of column lane / 4.
template <int count, bool transposed>
__device__ void load_squares(std::uint32_t (&r)[count], const void* row) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
    if constexpr (count == 4 && !transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(address)
                     : "memory");
    else if constexpr (count == 4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(address)
                     : "memory");
    else if constexpr (count == 2 && !transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                     : "=r"(r[0]), "=r"(r[1])
                     : "r"(address)
                     : "memory");
    else if constexpr (count == 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                     : "=r"(r[0]), "=r"(r[1])
                     : "r"(address)
                     : "memory");
    else if constexpr (!transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(address) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                     : "=r"(r[0])
                     : "r"(address)
                     : "memory");
}

/// c += x y: 16 rows of x and 8 columns of y, over 8 floats that are rounded to tf32, or over 16 or 8 halves.
__device__ inline void multiply_squares(Piece16x8& c, const std::uint32_t (&x)[4], const std::uint32_t (&y)[2], float) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c.v[0]), "+f"(c.v[1]), "+f"(c.v[2]), "+f"(c.v[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}
__device__ inline void multiply_squares(Piece16x8& c, const std::uint32_t (&x)[4], const std::uint32_t (&y)[2], half) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c.v[0]), "+f"(c.v[1]), "+f"(c.v[2]), "+f"(c.v[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}
__device__ inline void multiply_squares(Piece16x8& c, const std::uint32_t (&x)[4], const std::uint32_t (&y)[2],
                                        bfloat16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c.v[0]), "+f"(c.v[1]), "+f"(c.v[2]), "+f"(c.v[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}
__device__ inline void multiply_squares(Piece16x8& c, const std::uint32_t (&x)[2], const std::uint32_t (&y)[1], half) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(c.v[0]), "+f"(c.v[1]), "+f"(c.v[2]), "+f"(c.v[3])
        : "r"(x[0]), "r"(x[1]), "r"(y[0]));
}
__device__ inline void multiply_squares(Piece16x8& c, const std::uint32_t (&x)[2], const std::uint32_t (&y)[1],
                                        bfloat16) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(c.v[0]), "+f"(c.v[1]), "+f"(c.v[2]), "+f"(c.v[3])
        : "r"(x[0]), "r"(x[1]), "r"(y[0]));
}

#endif

} // namespace espalier::cuda
