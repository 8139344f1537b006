// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/launch_stream.h"
#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace espalier::cuda {

/// The second stage of a sum over many blocks: y[i] = sum over s of partials[s][i], in a fixed order. `partials` is
/// [splits][count].
void launch_split_sum(const float* partials, std::int64_t splits, std::int64_t count, void* y, DType type,
                      const LaunchStream& stream);

} // namespace espalier::cuda
