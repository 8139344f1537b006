// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/cudnn/engines.h"
#include "backends/cuda/cudnn/side_by_side.h"

#include <optional>

namespace espalier::cuda::cudnn {

/// What came of timing.
struct Contest {
    std::shared_ptr<const Plan> winner;
    bool in_pairs = false;             ///< whether a companion ran beside each
    std::vector<std::string> rejected; ///< candidates that were faster, but computed something else
};

/// The fastest of `guess` and what the engines offer, on random data, as fastest_nearby finds it: together with a
/// companion, if there is one and memory for it, since two plans that fill the card side by side can take longer than
/// one after the other. A guess that cannot be run stays; one that cannot be recorded does not. The winner is run once
/// more and compared with what `guess` computes; one that differs by more than rounding is thrown away, and the next
/// one is looked at. Takes memory of its own for the time of the call; throws OutOfMemory if there is none left.
[[nodiscard]] Contest fastest(const Problem& problem, const std::shared_ptr<const Plan>& guess, const Engines& engines,
                              const std::optional<Companion>& companion, cudnnHandle_t handle, cudaStream_t stream);

} // namespace espalier::cuda::cudnn
