// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/common.cuh"

#include <type_traits>

/// Vectors of four channels: half as many registers a thread as eight, so that twice as many pixels fit.
namespace espalier::cuda {

/// As loaded: 8 bytes of halves, 16 of floats.
template <class T>
using Packed4 = std::conditional_t<sizeof(T) == 4, uint4, uint2>;

template <class T>
__device__ inline Packed4<T> load_packed4(const T* p) {
    return *reinterpret_cast<const Packed4<T>*>(p);
}

template <class T>
__device__ inline float4 unpack4(const Packed4<T>& raw) {
    if constexpr (std::is_same_v<T, float>) {
        return make_float4(__uint_as_float(raw.x), __uint_as_float(raw.y), __uint_as_float(raw.z),
                           __uint_as_float(raw.w));
    } else if constexpr (std::is_same_v<T, half>) {
        const float2 a = __half22float2(*reinterpret_cast<const __half2*>(&raw.x));
        const float2 b = __half22float2(*reinterpret_cast<const __half2*>(&raw.y));
        return make_float4(a.x, a.y, b.x, b.y);
    } else {
        const float2 a = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&raw.x));
        const float2 b = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&raw.y));
        return make_float4(a.x, a.y, b.x, b.y);
    }
}

template <class T>
__device__ inline float4 load4(const T* p) {
    return unpack4<T>(load_packed4(p));
}

/// Four halves.
template <class T>
__device__ inline uint2 pack4(const float4& v) {
    uint2 raw;
    if constexpr (std::is_same_v<T, half>) {
        *reinterpret_cast<__half2*>(&raw.x) = __floats2half2_rn(v.x, v.y);
        *reinterpret_cast<__half2*>(&raw.y) = __floats2half2_rn(v.z, v.w);
    } else {
        *reinterpret_cast<__nv_bfloat162*>(&raw.x) = __floats2bfloat162_rn(v.x, v.y);
        *reinterpret_cast<__nv_bfloat162*>(&raw.y) = __floats2bfloat162_rn(v.z, v.w);
    }
    return raw;
}

template <class T>
__device__ inline void store4(T* p, const float4& v) {
    if constexpr (std::is_same_v<T, float>)
        *reinterpret_cast<float4*>(p) = v;
    else
        *reinterpret_cast<uint2*>(p) = pack4<T>(v);
}

/// Values of a tensor of `From` as one of T holds them.
template <class T, class From>
__device__ inline float4 rounded(const float4& v) {
    if constexpr (std::is_same_v<T, From> || std::is_same_v<T, float>)
        return v;
    else
        return unpack4<T>(pack4<T>(v));
}

__device__ inline void multiply_add(float4& sum, const float4& a, const float4& b) {
    sum.x = fmaf(a.x, b.x, sum.x);
    sum.y = fmaf(a.y, b.y, sum.y);
    sum.z = fmaf(a.z, b.z, sum.z);
    sum.w = fmaf(a.w, b.w, sum.w);
}

__device__ inline void add_to(float4& sum, const float4& a) { sum.x += a.x, sum.y += a.y, sum.z += a.z, sum.w += a.w; }

} // namespace espalier::cuda
