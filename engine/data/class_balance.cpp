// SPDX-License-Identifier: Apache-2.0
#include "data/class_balance.h"

#include <cstddef>

namespace espalier {

std::vector<float> balanced_class_weights(const SampleSet& set) {
    std::vector<std::size_t> counts(set.dataset->classes(), 0);
    for (std::size_t i = 0; i < set.size(); ++i)
        ++counts[static_cast<std::size_t>(set.label(i))];
    std::vector<float> weights;
    weights.reserve(counts.size());
    for (const auto count : counts)
        weights.push_back(count == 0
                              ? 0.0F
                              : static_cast<float>(static_cast<double>(set.size()) /
                                                   (static_cast<double>(counts.size()) * static_cast<double>(count))));
    return weights;
}

} // namespace espalier
