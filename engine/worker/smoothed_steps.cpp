// SPDX-License-Identifier: Apache-2.0
#include "worker/smoothed_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier {

namespace {
constexpr double least_share = 1e-7; // of the weight: below what a float can tell
} // namespace

SmoothedSteps::SmoothedSteps(double weight, std::int64_t first, std::int64_t last)
    : weight_(weight), begin_(begin(weight, first)), first_(first),
      values_(static_cast<std::size_t>(last - begin_ + 1)), known_(values_.size()) {}

std::int64_t SmoothedSteps::begin(double weight, std::int64_t first) {
    if (weight <= 0)
        return first;
    return std::max<std::int64_t>(1, first - std::llround(std::ceil(std::log(least_share) / std::log(weight))));
}

void SmoothedSteps::put(std::int64_t step, float value) {
    const auto at = static_cast<std::size_t>(step - begin_);
    if (step < begin_ || at >= values_.size())
        return;
    values_[at] = value;
    known_[at] = true;
}

std::vector<float> SmoothedSteps::reduced(std::size_t buckets, std::int64_t width) const {
    std::vector<double> sums(buckets);
    std::vector<std::int64_t> counts(buckets);
    double mean = 0, rest = 1;
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (!known_[i])
            continue;
        if (const double value = static_cast<double>(values_[i]); std::isfinite(value)) {
            mean = weight_ * mean + (1 - weight_) * value;
            rest *= weight_;
        }
        const auto step = begin_ + static_cast<std::int64_t>(i);
        if (step < first_ || rest >= 1)
            continue;
        const auto bucket = static_cast<std::size_t>((step - first_) / width);
        sums[bucket] += mean / (1 - rest);
        ++counts[bucket];
    }
    std::vector<float> means(buckets, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < buckets; ++i)
        if (counts[i] > 0)
            means[i] = static_cast<float>(sums[i] / static_cast<double>(counts[i]));
    return means;
}

} // namespace espalier
