// SPDX-License-Identifier: Apache-2.0
#include "data/statistics.h"

#include "base/error.h"

#include <array>
#include <cmath>

namespace espalier {

ChannelStatistics channel_statistics(const SampleSet& set) {
    if (set.empty())
        throw DataError("The mean of an empty set of images was asked for.");
    const auto& shape = set.dataset->image();
    std::vector<std::array<std::uint64_t, 256>> histogram(static_cast<std::size_t>(shape.channels));
    std::vector<std::uint8_t> image(shape.bytes());
    for (std::size_t i = 0; i < set.size(); ++i) {
        set.read(i, image);
        for (std::size_t at = 0; at < image.size(); ++at)
            ++histogram[at / shape.pixels()][image[at]];
    }

    ChannelStatistics statistics;
    const auto count = static_cast<double>(set.size() * shape.pixels());
    for (const auto& channel : histogram) {
        double sum = 0, squares = 0;
        for (std::size_t value = 0; value < 256; ++value)
            sum += static_cast<double>(channel[value]) * static_cast<double>(value);
        const double mean = sum / count;
        for (std::size_t value = 0; value < 256; ++value)
            squares += static_cast<double>(channel[value]) * std::pow(static_cast<double>(value) - mean, 2);
        const double deviation = std::sqrt(squares / count);
        statistics.mean.push_back(mean / 255);
        statistics.deviation.push_back(deviation > 0 ? deviation / 255 : 1);
    }
    return statistics;
}

} // namespace espalier
