// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace espalier::test {

/// Normally distributed around 0.
inline std::vector<float> random_values(std::int64_t count, unsigned seed, float deviation = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, deviation);
    std::vector<float> values(static_cast<std::size_t>(count));
    std::ranges::generate(values, [&] { return normal(random); });
    return values;
}

} // namespace espalier::test
