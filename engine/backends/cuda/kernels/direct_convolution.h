// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

/// Convolution by our own tiled product, for every group, stride, dilation, padding and type: for what the library has
/// no engine for. Products are in f32, their sums compensated, and every result is the same each time.
namespace espalier::cuda {

/// x [N,H,W,C], w [K,R,S,C/groups], y [N,P,Q,K]. Padding channels of padded orders count as channels.
struct DirectConvolution {
    enum class Direction { forward, input_gradient, weight_gradient };

    Direction direction = Direction::forward;
    DType type = DType::f32;         ///< of what is read
    DType result_type = DType::f32;  ///< of what is written
    std::array<std::int64_t, 4> x{}; ///< N, C, H, W
    std::array<std::int64_t, 4> w{}; ///< K, C/groups, R, S
    std::array<std::int64_t, 4> y{}; ///< N, K, P, Q
    std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
    std::int64_t groups = 1;

    /// Bytes of scratch memory.
    [[nodiscard]] std::size_t workspace() const;
};

/// Computes y, x or w (by the direction) from the other two.
void launch_direct_convolution(const DirectConvolution& convolution, void* x, void* w, void* y, float* workspace,
                               cudaStream_t stream);

} // namespace espalier::cuda
