// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/layout.h"

#include <cuda_runtime_api.h>

namespace espalier::cuda {

/// Copies a tensor from one order into another; `elements` of the target are written, those that stand for padding as
/// zero. Any element type.
void launch_reorder(const void* from, void* to, const Strides& source, const Strides& target, std::int64_t elements,
                    DType type, cudaStream_t stream);

} // namespace espalier::cuda
