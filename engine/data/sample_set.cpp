// SPDX-License-Identifier: Apache-2.0
#include "data/sample_set.h"

#include "base/error.h"
#include "data/hash_random.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace espalier {

SampleSet all_of(std::shared_ptr<const Dataset> dataset, Part part) {
    SampleSet set{std::move(dataset), part, {}};
    set.indices.resize(set.dataset->size(part));
    std::iota(set.indices.begin(), set.indices.end(), 0u);
    return set;
}

SampleSplit split(const SampleSet& set, double share, std::uint64_t seed) {
    if (!(share >= 0 && share < 1))
        throw ConfigError("The share of a split must be at least 0 and below 1, but is " + std::to_string(share) + ".");
    std::vector<std::vector<std::size_t>> of_class(set.dataset->classes());
    for (std::size_t i = 0; i < set.size(); ++i)
        of_class[static_cast<std::size_t>(set.label(i))].push_back(i);

    // An image's place in the draw follows from its index alone: more images in the set move as few of the others as
    // can be.
    const auto draw = [&](std::size_t i) { return HashRandom{seed, 0x73706c6974, set.indices[i]}.next(); };
    std::vector<bool> chosen(set.size());
    for (auto& members : of_class) {
        const auto wanted = static_cast<std::size_t>(std::llround(share * static_cast<double>(members.size())));
        const auto taken = members.empty() ? 0 : std::min(wanted, members.size() - 1);
        std::ranges::sort(members, {}, draw);
        for (std::size_t i = 0; i < taken; ++i)
            chosen[members[i]] = true;
    }

    SampleSplit result{{set.dataset, set.part, {}}, {set.dataset, set.part, {}}};
    for (std::size_t i = 0; i < set.size(); ++i)
        (chosen[i] ? result.second : result.first).indices.push_back(set.indices[i]);
    return result;
}

RunSets sets_for_run(const std::shared_ptr<const Dataset>& dataset, double validation_share, std::uint64_t seed) {
    RunSets sets{all_of(dataset, Part::train), all_of(dataset, Part::validation), all_of(dataset, Part::test)};
    if (sets.validation.empty()) {
        auto parts = split(sets.train, validation_share, seed);
        sets.train = std::move(parts.first);
        sets.validation = std::move(parts.second);
    }
    if (sets.train.empty())
        throw DataError("The data set '" + dataset->info().spec + "' has no training images.");
    return sets;
}

} // namespace espalier
