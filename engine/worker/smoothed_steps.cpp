// SPDX-License-Identifier: Apache-2.0
#include "worker/smoothed_steps.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace espalier {

namespace {
constexpr double least_share = 1e-7; // of the weight: below what a float can tell
constexpr double no_rest = 1e-17;    // 1 less that is 1
} // namespace

SmoothedSteps::SmoothedSteps(double weight, std::int64_t first, std::int64_t last)
    : weight_(weight), begin_(begin(weight, first)), first_(first),
      values_(static_cast<std::size_t>(last - begin_ + 1)), known_(values_.size()) {}

std::int64_t SmoothedSteps::begin(double weight, std::int64_t first) {
    if (weight <= 0)
        return first;
    return std::max<std::int64_t>(1, first - std::llround(std::ceil(std::log(least_share) / std::log(weight))));
}

void SmoothedSteps::put(std::int64_t step, std::int64_t count, std::string_view bytes) {
    const auto end = std::min(step + count, begin_ + static_cast<std::int64_t>(values_.size()));
    const auto first = std::max(step, begin_);
    if (first >= end)
        return;
    const auto at = static_cast<std::size_t>(first - begin_), many = static_cast<std::size_t>(end - first);
    std::memcpy(values_.data() + at, bytes.data() + static_cast<std::size_t>(first - step) * sizeof(float),
                many * sizeof(float));
    std::fill_n(known_.begin() + static_cast<std::ptrdiff_t>(at), many, char{1});
}

std::vector<float> SmoothedSteps::reduced(std::size_t buckets, std::int64_t width) const {
    std::vector<double> sums(buckets);
    std::vector<std::int64_t> counts(buckets);
    double mean = 0, rest = 1;
    std::size_t bucket = 0;
    std::int64_t bucket_end = first_ + width;
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (!known_[i])
            continue;
        if (const double value = static_cast<double>(values_[i]); std::isfinite(value)) {
            mean = weight_ * mean + (1 - weight_) * value;
            rest = rest < no_rest ? 0 : rest * weight_;
        }
        const auto step = begin_ + static_cast<std::int64_t>(i);
        if (step < first_ || rest >= 1)
            continue;
        for (; step >= bucket_end; bucket_end += width)
            ++bucket;
        sums[bucket] += rest > 0 ? mean / (1 - rest) : mean; // of millions of steps the most need no division
        ++counts[bucket];
    }
    std::vector<float> means(buckets, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < buckets; ++i)
        if (counts[i] > 0)
            means[i] = static_cast<float>(sums[i] / static_cast<double>(counts[i]));
    return means;
}

} // namespace espalier
