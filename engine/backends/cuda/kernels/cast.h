// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/launch_stream.h"
#include "backends/cuda/layout.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace espalier::cuda {

/// One tensor to be cast, its elements in the same order on both sides.
struct CastItem {
    const void* from = nullptr;
    void* to = nullptr;
    std::int64_t count = 0;
};

/// All of them in one launch (or one for every few hundred). Every tensor begins on 16 bytes.
void launch_cast(const std::vector<CastItem>& items, DType from, DType to, const LaunchStream& stream);

/// One tensor into another order at once; padding becomes zero.
void launch_cast_reorder(const void* from, DType from_type, void* to, DType to_type, const Strides& source,
                         const Strides& target, std::int64_t elements, const LaunchStream& stream);

} // namespace espalier::cuda
