// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/safetensors.h"
#include "passes/pipeline.h"
#include "plan/backend.h"

#include <string>
#include <vector>

namespace espalier::testing {

/// One thing compared in a whole-network fixture.
struct Comparison {
    std::string name;   ///< "loss of step 2", "grad/stem.0.weight", "after3/..."
    double error = 0;   ///< relative for losses, else mean |a - b|
    double allowed = 0; ///< losses 1e-5, 1e-5, 1e-4; else 1e-4 mean |a| + 1e-6
    [[nodiscard]] bool ok() const { return error <= allowed; }
};

/// Builds the network that the file's metadata describes, and compares logits, every gradient of the first step, the
/// losses of three optimizer steps, every parameter and buffer after them, and, where the file has one, a step on
/// alpha.
[[nodiscard]] std::vector<Comparison> compare_network(const safetensors::Reader& file, const Toggles& toggles,
                                                      Backend& backend);

} // namespace espalier::testing
