// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/safetensors.h"
#include "passes/pipeline.h"
#include "plan/backend.h"

#include <array>
#include <string>

namespace espalier {

/// A tensor's distance from the fixture's as a share of what is allowed: mean|a-b| / (1e-4 mean|a| + 1e-6); above 1 it
/// is wrong.
struct Distance {
    double share = 0;
    std::string name;
};

struct WholeNetworkErrors {
    std::array<double, 3> loss{}; ///< relative error of each of the three steps' losses
    Distance logits;
    Distance gradient;        ///< the worst of all gradients of the first step
    Distance parameter;       ///< the worst of all parameters and running statistics after three steps
    std::size_t compared = 0; ///< tensors
};

/// Loads the fixture's values, takes three optimizer steps on its batch and compares everything that it holds.
[[nodiscard]] WholeNetworkErrors run_whole_network(const safetensors::Reader& fixture, Backend& backend,
                                                   const Toggles& toggles);

} // namespace espalier
