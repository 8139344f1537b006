// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/common.cuh"

namespace espalier::cuda {

/// Eight channels as they lie in memory: half the registers of floats while a load is on its way.
template <class T>
struct Packed {
    uint4 raw;
};
template <>
struct Packed<float> {
    float4 low, high;
};

template <class T>
__device__ Packed<T> load_packed(const T* p) {
    if constexpr (sizeof(T) == 2)
        return {*reinterpret_cast<const uint4*>(p)};
    else
        return {*reinterpret_cast<const float4*>(p), *reinterpret_cast<const float4*>(p + 4)};
}
template <class T>
__device__ Eight unpack(const Packed<T>& packed) {
    return load8(reinterpret_cast<const T*>(&packed)); // in registers
}

} // namespace espalier::cuda
