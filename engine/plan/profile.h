// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/session.h"

#include <span>
#include <string>
#include <vector>

namespace espalier {

/// What the ops of one layer take together; its times are of the last profiled run.
struct LayerProfile {
    std::string layer;
    std::size_t ops = 0;
    double forward_milliseconds = 0;
    double backward_milliseconds = 0;
    double update_milliseconds = 0;
    double flops = 0; ///< as executed: recomputed ops count
    double bytes = 0;
    std::size_t memory = 0;    ///< bytes of all outputs in the arena; not all of them are there at once
    std::size_t workspace = 0; ///< the largest
    [[nodiscard]] double milliseconds() const {
        return forward_milliseconds + backward_milliseconds + update_milliseconds;
    }
};

/// Sums the ops of a plan by layer, in the order in which the layers first appear.
[[nodiscard]] std::vector<LayerProfile> layer_profile(std::span<const PlannedOp> ops);

} // namespace espalier
