// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/loss_scale.h"
#include "backends/cuda/kernels/overlap.cuh"
#include "graph/step_block.h"

namespace espalier::cuda {
namespace {

__global__ void loss_scale_kernel(const float* scale, float* copy, float* step) {
    take_turn();
    *copy = *scale;
    step[step_block::loss_scale] = *scale;
}

__global__ void update_kernel(const float* norm, float* scale, float* good_steps, float interval) {
    take_turn();
    if (!isfinite(*norm)) {
        *scale = fmaxf(*scale / 2.0F, 1.0F);
        *good_steps = 0.0F;
    } else if (*good_steps + 1.0F >= interval) {
        *scale *= 2.0F;
        *good_steps = 0.0F;
    } else {
        *good_steps += 1.0F;
    }
}

} // namespace

void launch_loss_scale(const float* scale, float* copy, float* step, const LaunchStream& stream) {
    enqueue(loss_scale_kernel, dim3(1), dim3(1), 0, stream, scale, copy, step);
}

void launch_update_loss_scale(const float* norm, float* scale, float* good_steps, float interval,
                              const LaunchStream& stream) {
    enqueue(update_kernel, dim3(1), dim3(1), 0, stream, norm, scale, good_steps, interval);
}

} // namespace espalier::cuda
