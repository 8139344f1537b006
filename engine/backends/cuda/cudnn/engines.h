// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/cudnn/convolution.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace espalier::cuda::cudnn {

/// What the library offers for one problem: engines that keep what the problem asks for (determinism, precision), whose
/// workspace stays within the cap, and that are compiled already.
class Engines {
public:
    /// Throws DeviceError if the library does not take the problem at all.
    Engines(const Problem& problem, cudnnHandle_t handle, std::size_t workspace_cap);

    /// The first one that the library recommends; null if it has none.
    [[nodiscard]] std::shared_ptr<const Plan> guess() const;
    /// The one that was chosen in another process; null if it is not offered here.
    [[nodiscard]] std::shared_ptr<const Plan> chosen(const Choice& choice) const;
    /// What is worth timing: the library's recommendations, the best one first, then every engine as it is set by
    /// default.
    [[nodiscard]] std::vector<std::shared_ptr<const Plan>> candidates() const;
    /// The engine of a choice with one of its knobs at another value, for each knob and value. The library's
    /// recommendations hold few of them, other ones in each process, and not always the best.
    [[nodiscard]] std::vector<Choice> neighbours(const Choice& choice) const;

private:
    [[nodiscard]] std::shared_ptr<const Plan> plan_of(const Descriptor& configuration) const;

    Problem problem_;
    cudnnHandle_t handle_;
    std::size_t cap_;
    Descriptor graph_;
};

} // namespace espalier::cuda::cudnn
