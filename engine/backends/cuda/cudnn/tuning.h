// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/cudnn/convolution.h"

namespace espalier::cuda::cudnn {

/// The fastest of the candidates on random data: the median of several launches each. A candidate whose numbers differ
/// from the first one's by more than rounding is left out. Null if none ran. Takes memory of its own for the time of
/// the call.
[[nodiscard]] std::shared_ptr<const Plan> fastest(const Problem& problem,
                                                  const std::vector<std::shared_ptr<const Plan>>& candidates,
                                                  cudnnHandle_t handle, cudaStream_t stream);

} // namespace espalier::cuda::cudnn
