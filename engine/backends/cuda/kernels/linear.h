// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <cstdint>

/// The matrix products of a classifier. Row-major, sums in f32, one fixed order.
namespace espalier::cuda {

struct Matrix {
    const void* data = nullptr;
    DType type = DType::f32;
};
struct MutableMatrix {
    void* data = nullptr;
    DType type = DType::f32;
};

/// y [rows, out] = x [rows, in] w^T + bias; w is [out, in], bias [out] may be null.
void launch_linear(Matrix x, Matrix w, const float* bias, MutableMatrix y, std::int64_t rows, std::int64_t in,
                   std::int64_t out, cudaStream_t stream);
/// gx [rows, in] = gy [rows, out] w.
void launch_linear_input_gradient(Matrix gy, Matrix w, MutableMatrix gx, std::int64_t rows, std::int64_t in,
                                  std::int64_t out, cudaStream_t stream);
/// gw [out, in] = gy^T x.
void launch_linear_weight_gradient(Matrix x, Matrix gy, MutableMatrix gw, std::int64_t rows, std::int64_t in,
                                   std::int64_t out, cudaStream_t stream);

} // namespace espalier::cuda
