// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::cuda {

/// The largest of the 32 lanes, in every lane.
__device__ inline float warp_max(float value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, offset));
    return value;
}

} // namespace espalier::cuda
