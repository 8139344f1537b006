// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/cudnn/random_tensors.h"
#include "backends/cuda/event.h"

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
    ~SideBySide();
    SideBySide(const SideBySide&) = delete;
    SideBySide& operator=(const SideBySide&) = delete;

    /// Enqueues what `other` enqueues on the main stream, the companion beside it, and that both are waited for: the
    /// weight gradient before the input gradient, as a training step does.
    void run_with(const std::function<void()>& other);

private:
    void run_companion();

    cudnnHandle_t handle_;
    cudaStream_t main_, side_ = nullptr;
    bool is_first_;
    RandomTensors tensors_;
    DeviceMemory workspace_;
    Execution execution_;
    Event begin_, end_;
};

/// Null if there is no companion, or no memory for it: the network needs it more.
[[nodiscard]] std::unique_ptr<SideBySide> side_by_side(const std::optional<Companion>& companion, cudnnHandle_t handle,
                                                       cudaStream_t main);

} // namespace espalier::cuda::cudnn
