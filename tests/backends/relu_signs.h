// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/observed_backend.h"

#include <string>
#include <vector>

namespace espalier::testing {

/// What went into the ReLUs of a run, in the order in which they ran.
struct ReluInputs {
    struct Relu {
        std::string layer;
        std::vector<float> x;
    };
    std::vector<Relu> relus;
};

/// One value that is above zero in one run and not in the other: the gradient passes there in one of them alone.
struct SignChange {
    std::size_t relu = 0; ///< number in the order in which they ran
    std::string layer;
    std::size_t element = 0;
    float expected = 0, found = 0;
};

[[nodiscard]] bool is_relu(const Op& op);
/// Writes what it sees into `inputs`.
[[nodiscard]] ObservedBackend::Observer record_relus(ReluInputs& inputs);
/// Lets every ReLU pass what it passes in `decided`, whatever sign its input has: where the signs differ, the result is
/// that of `decided`.
[[nodiscard]] ObservedBackend::Observer force_relus(const ReluInputs& decided);
[[nodiscard]] std::vector<SignChange> sign_changes(const ReluInputs& expected, const ReluInputs& found);

} // namespace espalier::testing
