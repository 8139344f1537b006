// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/dataset.h"

namespace espalier {

/// Images that are computed when they are read. Each class has a smooth random pattern; an image is its class's
/// pattern, moved by up to an eighth of its side, in its own contrast and brightness, under noise: easy to learn, and
/// never twice the same.
struct SyntheticSettings {
    ImageShape image;
    std::int64_t classes = 10;
    std::int64_t count = 1000; ///< training images; a quarter as many more are for validation. Classes take turns.
    std::uint64_t seed = 1;
};

/// Reads "CxHxW,classes,count[,seed]". Throws ConfigError with the limits.
[[nodiscard]] SyntheticSettings parse_synthetic(const std::string& text);
[[nodiscard]] std::shared_ptr<const Dataset> make_synthetic(const SyntheticSettings& settings);

} // namespace espalier
