// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/sample_set.h"

namespace espalier {

/// Mean and standard deviation of each channel over all pixels, on the scale 0 to 1.
struct ChannelStatistics {
    std::vector<double> mean;
    std::vector<double> deviation;

    friend bool operator==(const ChannelStatistics&, const ChannelStatistics&) = default;
};

/// Reads every image once and counts values in whole numbers, so that the result is exact and the same everywhere. A
/// channel that never changes gets the deviation 1, so that it can be divided by. Throws DataError for an empty set.
[[nodiscard]] ChannelStatistics channel_statistics(const SampleSet& set);

} // namespace espalier
