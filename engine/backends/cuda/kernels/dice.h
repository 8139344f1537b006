// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace espalier::cuda {

/// The generalized Dice loss over logits of `pixels` rows of `pitch` channels, `classes` of them real, and an i32 label
/// for each pixel: 1 - 2 A / B, A = sum_k w_k sum(p t) + eps / 2, B = sum_k w_k sum(p + t) + eps,
/// w_k = 1 / (count_k^2 + eps). Sums in double, in a fixed order.
struct Dice {
    std::int64_t pixels = 0, classes = 0, pitch = 0;
    std::int64_t first = 0; ///< class that the sums begin with: 1 without the background
    double eps = 1e-5;
    DType type = DType::f32; ///< of logits and their gradient
};

/// Bytes of scratch memory of either launch.
[[nodiscard]] std::size_t dice_workspace(const Dice& dice);
void launch_dice(const void* logits, const int* labels, float* loss, double* scratch, const Dice& dice,
                 cudaStream_t stream);
void launch_dice_gradient(const void* logits, const int* labels, const float* gloss, void* glogits, double* scratch,
                          const Dice& dice, cudaStream_t stream);

} // namespace espalier::cuda
