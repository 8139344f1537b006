// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/cudnn/convolution.h"
#include "backends/cuda/device_memory.h"

namespace espalier::cuda::cudnn {

/// x, w and y of a problem on the device, with random values. Throws OutOfMemory.
class RandomTensors {
public:
    RandomTensors(const Problem& problem, cudaStream_t stream);

    /// Of x, w and y: 0, 1 and 2.
    [[nodiscard]] std::int64_t count(std::size_t i) const { return counts_[i]; }
    [[nodiscard]] std::size_t bytes(std::size_t i) const {
        return static_cast<std::size_t>(counts_[i]) * size_of(type_);
    }
    [[nodiscard]] std::byte* data(std::size_t i) const { return memory_[i].data(); }
    [[nodiscard]] Execution execution(const std::shared_ptr<const Plan>& plan, std::byte* workspace) const {
        return {plan, data(0), data(1), data(2), workspace};
    }

private:
    DType type_;
    std::array<std::int64_t, 3> counts_;
    std::array<DeviceMemory, 3> memory_;
};

} // namespace espalier::cuda::cudnn
