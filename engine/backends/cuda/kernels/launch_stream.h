// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace espalier::cuda {

/// Where a launch goes, and how close it may follow the one before it there (programmatic dependent launch).
struct LaunchStream {
    cudaStream_t handle = nullptr;
    /// The next launch waits for the one before it in the stream alone, and may take its place on the chip before that
    /// one has ended.
    bool early = false;
    bool overlaps = false; ///< whether the code of our kernels can do so at all on this card

    LaunchStream() = default;
    LaunchStream(cudaStream_t stream, bool begins_early = false, bool can_overlap = false)
        : handle(stream), early(begins_early), overlaps(can_overlap) {}
    operator cudaStream_t() const { return handle; }

    /// For a launch right behind one of ours.
    [[nodiscard]] LaunchStream behind() const { return {handle, overlaps, overlaps}; }
};

} // namespace espalier::cuda
