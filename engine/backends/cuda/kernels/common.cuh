// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/dtype.h"
#include "base/error.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <string>

/// What the kernels share: element types, vectors of eight channels, reductions.
namespace espalier::cuda {

using half = __half;
using bfloat16 = __nv_bfloat16;

/// Calls body(T{}) with the element type T of `type`; f32, f16 and bf16.
template <class Body>
void with_type(DType type, Body&& body) {
    switch (type) {
    case DType::f32: return body(float{});
    case DType::f16: return body(half{});
    case DType::bf16: return body(bfloat16{});
    default: throw DeviceError("A kernel of the GPU was asked for elements of " + std::string(name_of(type)) + ".");
    }
}

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(half x) { return __half2float(x); }
__device__ inline float to_float(bfloat16 x) { return __bfloat162float(x); }

template <class T>
__device__ T from_float(float x);
template <>
__device__ inline float from_float<float>(float x) {
    return x;
}
template <>
__device__ inline half from_float<half>(float x) {
    return __float2half_rn(x);
}
template <>
__device__ inline bfloat16 from_float<bfloat16>(float x) {
    return __float2bfloat16_rn(x);
}

/// Eight channels as floats in registers: 16 bytes of halves, or 32 of floats, in one or two loads.
struct Eight {
    float v[8];
};

__device__ inline Eight load8(const float* p) {
    const float4 a = *reinterpret_cast<const float4*>(p), b = *reinterpret_cast<const float4*>(p + 4);
    return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
}
__device__ inline Eight load8(const half* p) {
    const uint4 raw = *reinterpret_cast<const uint4*>(p);
    const auto* pairs = reinterpret_cast<const __half2*>(&raw);
    Eight r;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float2 f = __half22float2(pairs[i]);
        r.v[2 * i] = f.x, r.v[2 * i + 1] = f.y;
    }
    return r;
}
__device__ inline Eight load8(const bfloat16* p) {
    const uint4 raw = *reinterpret_cast<const uint4*>(p);
    const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(&raw);
    Eight r;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float2 f = __bfloat1622float2(pairs[i]);
        r.v[2 * i] = f.x, r.v[2 * i + 1] = f.y;
    }
    return r;
}
__device__ inline void store8(float* p, const Eight& e) {
    *reinterpret_cast<float4*>(p) = make_float4(e.v[0], e.v[1], e.v[2], e.v[3]);
    *reinterpret_cast<float4*>(p + 4) = make_float4(e.v[4], e.v[5], e.v[6], e.v[7]);
}
__device__ inline void store8(half* p, const Eight& e) {
    uint4 raw;
    auto* pairs = reinterpret_cast<__half2*>(&raw);
#pragma unroll
    for (int i = 0; i < 4; ++i)
        pairs[i] = __floats2half2_rn(e.v[2 * i], e.v[2 * i + 1]);
    *reinterpret_cast<uint4*>(p) = raw;
}
__device__ inline void store8(bfloat16* p, const Eight& e) {
    uint4 raw;
    auto* pairs = reinterpret_cast<__nv_bfloat162*>(&raw);
#pragma unroll
    for (int i = 0; i < 4; ++i)
        pairs[i] = __floats2bfloat162_rn(e.v[2 * i], e.v[2 * i + 1]);
    *reinterpret_cast<uint4*>(p) = raw;
}

/// Sum over the 32 lanes, in every lane; the order is fixed.
template <class T>
__device__ T warp_sum(T value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffU, value, offset);
    return value;
}

/// Sum over the block, in every thread; `shared` has one T a warp. The order is fixed.
template <class T>
__device__ T block_sum(T value, T* shared) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
    value = warp_sum(value);
    __syncthreads();
    if (lane == 0)
        shared[warp] = value;
    __syncthreads();
    T total = 0;
    for (unsigned i = 0; i < warps; ++i)
        total += shared[i];
    return total;
}

/// Blocks of `threads` that cover `count`, at most `most`: kernels step by the whole grid.
inline unsigned blocks_for(std::int64_t count, int threads, std::int64_t most = 65535) {
    const auto blocks = (count + threads - 1) / threads;
    return static_cast<unsigned>(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/// This thread's place in the grid, and the number of threads in it.
__device__ inline std::int64_t grid_index() {
    return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t grid_size() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

} // namespace espalier::cuda
