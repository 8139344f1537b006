// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/launch_stream.h"
#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <span>

/// The update of all parameters together: one launch, or a few where there are more tensors than its table holds.
/// Everything that changes from step to step is read from the step block on the device.
namespace espalier::cuda {

/// Elements of one gradient, in any order.
struct GradientTensor {
    const void* data = nullptr;
    DType type = DType::f32;
    std::int64_t count = 0;
};

/// One parameter and what belongs to it, all in the order of its gradient.
struct TrainedTensor {
    GradientTensor gradient;
    float* parameter = nullptr;
    std::array<float*, 3> slots{}; ///< sgd: momentum. adam: exp_avg, exp_avg_sq, steps
    bool decay = true;             ///< whether weight decay applies
};

/// What sgd and adam share.
struct UpdateSettings {
    const float* step = nullptr; ///< the step block
    const float* norm = nullptr; ///< of the gradients; may be null. Not finite: nothing is changed
    float clip_norm = 0;         ///< 0: none
    float weight_decay = 0;
};

struct SgdSettings {
    UpdateSettings update;
    float momentum = 0;
    bool nesterov = false;
};

struct AdamSettings {
    UpdateSettings update;
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
    bool decoupled = false;
};

void launch_sgd(std::span<const TrainedTensor> tensors, const SgdSettings& settings, const LaunchStream& stream);
void launch_adam(std::span<const TrainedTensor> tensors, const AdamSettings& settings, const LaunchStream& stream);

struct AccumulatedTensor {
    GradientTensor gradient;
    float* sum = nullptr;
};
/// sum = gradient in the first micro-step, sum + gradient after.
void launch_accumulate(std::span<const AccumulatedTensor> tensors, const float* step, const LaunchStream& stream);

/// Doubles that launch_gradient_norm needs for a tensor of that many elements.
[[nodiscard]] std::int64_t norm_partials(std::int64_t count);
/// norm = sqrt(sum g^2) / (loss_scale micro_steps), in two stages of fixed order.
void launch_gradient_norm(std::span<const GradientTensor> gradients, const float* step, double* partials, float* norm,
                          const LaunchStream& stream);

inline constexpr std::size_t most_recorded = 256;
/// history[history_row mod rows, first + i] = values[i]; at most `most_recorded` in one launch. The history has
/// `columns` values a row.
void launch_record(std::span<const float* const> values, const float* step, float* history, std::int64_t rows,
                   std::int64_t columns, std::int64_t first, const LaunchStream& stream);

} // namespace espalier::cuda
