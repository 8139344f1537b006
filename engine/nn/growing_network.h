// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <cstdint>
#include <vector>

namespace espalier {

/// A network that can be made wider, deeper and more branched while it trains. As JSON:
///   {"stem": 32, "blocks": [{"width": 32, "stride": 1, "residual": false, "branches": [{"width": 16}]}, ...]}
struct GrowingSettings {
    struct Block {
        std::int64_t width = 32;
        std::int64_t stride = 1;
        bool residual = false;              ///< x + c ReLU(BN(conv3x3(x))) with a trained c: a block put in by growth
        std::vector<std::int64_t> branches; ///< widths; each c P(ReLU(BN(conv5x5(x)))), see growing_network.cpp
    };
    std::int64_t stem = 32;
    std::vector<Block> blocks{{32, 1, false, {}}, {64, 2, false, {}}, {64, 1, false, {}}};

    /// Throws ConfigError for unknown keys, values outside of their limits, or a residual block that changes the shape.
    static GrowingSettings from_json(const Json& json);
    [[nodiscard]] Json to_json() const;
};

} // namespace espalier
