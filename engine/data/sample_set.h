// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/dataset.h"

namespace espalier {

/// Images chosen from one part of a data set, by their indices there: what a run trains on, or is measured by.
struct SampleSet {
    std::shared_ptr<const Dataset> dataset;
    Part part = Part::train;
    std::vector<std::uint32_t> indices;

    [[nodiscard]] std::size_t size() const noexcept { return indices.size(); }
    [[nodiscard]] bool empty() const noexcept { return indices.empty(); }
    [[nodiscard]] std::int32_t label(std::size_t i) const { return dataset->label(part, indices[i]); }
    void read(std::size_t i, std::span<std::uint8_t> out) const { dataset->read(part, indices[i], out); }
    [[nodiscard]] std::string file(std::size_t i) const { return dataset->file(part, indices[i]); }
};

/// A whole part; empty if the data set has none.
[[nodiscard]] SampleSet all_of(std::shared_ptr<const Dataset> dataset, Part part);

struct SampleSplit {
    SampleSet first;
    SampleSet second;
};

/// Puts `share` of every class (rounded; at least one image of a class stays in `first`) into `second`, chosen by
/// `seed`. Every image is in exactly one of the two, in its old order. Throws ConfigError unless 0 <= share < 1.
[[nodiscard]] SampleSplit split(const SampleSet& set, double share, std::uint64_t seed);

/// The parts as a run uses them.
struct RunSets {
    SampleSet train;
    SampleSet validation; ///< the set's own, or `validation_share` of its training part
    SampleSet test;       ///< may be empty; for the end of a run
};

/// Throws DataError if nothing is left to train on.
[[nodiscard]] RunSets sets_for_run(const std::shared_ptr<const Dataset>& dataset, double validation_share,
                                   std::uint64_t seed);

} // namespace espalier
