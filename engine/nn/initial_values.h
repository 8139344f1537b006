// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace espalier {

/// First values of a parameter or buffer: a function of (seed, name) and the initializer alone, so that neither the
/// order of a network's layers nor what was built before changes them. The generator is counter-based (SplitMix64,
/// Steele et al. 2014) with Box-Muller for the normal distribution: the same on every platform up to the last bit of
/// its log and cos. Throws ConfigError for `identity` with fewer than two dimensions.
[[nodiscard]] std::vector<float> initial_values(const Initializer& initializer, const Shape& shape, std::uint64_t seed,
                                                const std::string& name);

} // namespace espalier
