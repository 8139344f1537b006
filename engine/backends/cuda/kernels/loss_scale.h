// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/launch_stream.h"

#include <cuda_runtime_api.h>

namespace espalier::cuda {

/// copy = step[loss_scale] = scale.
void launch_loss_scale(const float* scale, float* copy, float* step, const LaunchStream& stream);
/// Halves the scale (not below 1) if the norm is not finite, doubles it after `interval` good steps.
void launch_update_loss_scale(const float* norm, float* scale, float* good_steps, float interval,
                              const LaunchStream& stream);

} // namespace espalier::cuda
