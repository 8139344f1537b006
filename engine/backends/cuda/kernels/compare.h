// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/dtype.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace espalier::cuda {

/// Values in [-1, 1), a function of (seed, index) alone. f32, f16 or bf16.
void fill_random(void* values, DType type, std::int64_t count, unsigned seed, cudaStream_t stream);

/// mean |a - b| / mean |a|; NaN if any is not finite. `sums` is room for two doubles on the device. Waits.
[[nodiscard]] double relative_difference(const void* a, const void* b, DType type, std::int64_t count, double* sums,
                                         cudaStream_t stream);

} // namespace espalier::cuda
