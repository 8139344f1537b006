// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/cudnn/random_tensors.h"
#include "backends/cuda/event.h"
#include "backends/cuda/stream.h"

#include <functional>
#include <memory>
#include <optional>

namespace espalier::cuda::cudnn {

/// What runs at the same time in a network: the other gradient of the same convolution.
struct Companion {
    Problem problem;
    std::shared_ptr<const Plan> plan;
};

/// A companion on a stream of its own, on random data. Throws OutOfMemory.
class SideBySide {
public:
    SideBySide(const Companion& companion, cudnnHandle_t handle, cudaStream_t main);

    /// Enqueues what `other` enqueues on the main stream, the companion beside it, and that both are waited for.
    void run_with(const std::function<void()>& other);

private:
    cudnnHandle_t handle_;
    cudaStream_t main_;
    RandomTensors tensors_;
    DeviceMemory workspace_;
    Execution execution_;
    Event begin_, end_;
    Stream side_; ///< last: what runs there uses all of the above, and ends first
};

/// Null if there is no companion, or no memory for it: the network needs it more.
[[nodiscard]] std::unique_ptr<SideBySide> side_by_side(const std::optional<Companion>& companion, cudnnHandle_t handle,
                                                       cudaStream_t main);

} // namespace espalier::cuda::cudnn
