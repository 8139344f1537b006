// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/common.cuh"

/// Elements whose type is known at run time alone: for small tensors, and where a template for every mixture of types
/// would be many kernels. The branch is the same for a whole block.
namespace espalier::cuda {

__device__ inline float load_as(DType type, const void* data, std::int64_t i) {
    switch (type) {
    case DType::f16:
        return to_float(static_cast<const half*>(data)[i]);
    case DType::bf16:
        return to_float(static_cast<const bfloat16*>(data)[i]);
    default:
        return static_cast<const float*>(data)[i];
    }
}

__device__ inline void store_as(DType type, void* data, std::int64_t i, float value) {
    switch (type) {
    case DType::f16:
        static_cast<half*>(data)[i] = from_float<half>(value);
        break;
    case DType::bf16:
        static_cast<bfloat16*>(data)[i] = from_float<bfloat16>(value);
        break;
    default:
        static_cast<float*>(data)[i] = value;
    }
}

/// Elements i to i + 7; i is a multiple of 8.
__device__ inline Eight load8_as(DType type, const void* data, std::int64_t i) {
    switch (type) {
    case DType::f16:
        return load8(static_cast<const half*>(data) + i);
    case DType::bf16:
        return load8(static_cast<const bfloat16*>(data) + i);
    default:
        return load8(static_cast<const float*>(data) + i);
    }
}

/// Elements of a floating type, read by kernels.
struct Source {
    const void* data;
    DType type;
    __device__ float operator[](std::int64_t i) const { return load_as(type, data, i); }
};

/// Elements of a floating type, written by kernels.
struct Target {
    void* data;
    DType type;
    __device__ void set(std::int64_t i, float value) const { store_as(type, data, i, value); }
};

/// A tensor [1] is stored with seven zeros behind it.
__device__ inline void store_scalar(float* target, float value) { store8(target, {{value, 0, 0, 0, 0, 0, 0, 0}}); }

inline void expect_floating(DType type) {
    with_type(type, [](auto) {});
}

} // namespace espalier::cuda
