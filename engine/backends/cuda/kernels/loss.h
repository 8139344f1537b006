// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <cstdint>

/// Losses and what is counted beside them. Sums over rows in double, in a fixed order.
namespace espalier::cuda {

/// Row-major scores [rows, classes] with an i32 label for each row.
struct Scores {
    std::int64_t rows = 0, classes = 0;
    DType type = DType::f32; ///< of logits, probabilities and the gradient
};
/// Weights of the classes in a cross entropy, [classes] in f32; `sums` is scratch for 2 doubles. Null: all are 1.
struct ClassWeights {
    const float* values = nullptr;
    double* sums = nullptr; ///< of the labels' weights, and of all weights
};
/// loss [1], probabilities (may be null). `scratch` holds a double for each row. A label that is no class makes the
/// loss not a number.
void launch_cross_entropy(const void* logits, const int* labels, const ClassWeights& weights, float* loss,
                          void* probabilities, double* scratch, const Scores& scores, float smoothing,
                          cudaStream_t stream);
void launch_cross_entropy_gradient(const void* probabilities, const int* labels, const ClassWeights& weights,
                                   const float* gloss, void* glogits, const Scores& scores, float smoothing,
                                   cudaStream_t stream);
/// Rows whose largest logit stands at the label; `scratch` holds a double for each row.
void launch_correct_count(const void* logits, const int* labels, float* count, double* scratch, const Scores& scores,
                          cudaStream_t stream);

} // namespace espalier::cuda
