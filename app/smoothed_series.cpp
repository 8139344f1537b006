// SPDX-License-Identifier: GPL-3.0-or-later
#include "smoothed_series.h"

#include <algorithm>
#include <cmath>

namespace espalier {

void SmoothedSeries::append(std::int64_t step, const std::vector<float>& values) {
    if (!raw.empty() && step <= raw.last_step())
        truncate_after(step - 1);
    const bool level = is_level();
    raw.append(step, values.data(), values.size());
    if (level)
        extend(values.size());
}

void SmoothedSeries::reserve(std::size_t count) {
    raw.reserve(count);
    smooth.reserve(count);
    expected_ = count;
}

void SmoothedSeries::extend(std::size_t most) {
    const std::size_t end = std::min(raw.size(), smooth.size() + most);
    std::vector<float> means;
    for (std::size_t i = smooth.size(); i < end;) { // one stretch of consecutive steps after the other
        const std::int64_t first = raw.step_at(i);
        const bool whole = raw.step_at(end - 1) - first == static_cast<std::int64_t>(end - 1 - i);
        means.clear();
        do {
            const float value = raw.value_at(i);
            if (std::isfinite(value)) {
                mean_ = weight_ * mean_ + (1 - weight_) * value;
                correction_ *= weight_;
            }
            means.push_back(correction_ < 1 ? static_cast<float>(mean_ / (1 - correction_)) : value);
            ++i;
        } while (i < end && (whole || raw.step_at(i) == first + static_cast<std::int64_t>(means.size())));
        smooth.append(first, means.data(), means.size());
    }
}

void SmoothedSeries::clear() {
    raw.clear();
    set_weight(weight_);
}

void SmoothedSeries::truncate_after(std::int64_t step) {
    raw.truncate_after(step);
    smooth.truncate_after(step);
    // the mean goes on from where the curve now ends
    if (!smooth.empty() && std::isfinite(smooth.value_at(smooth.size() - 1))) {
        mean_ = smooth.value_at(smooth.size() - 1);
        correction_ = 0;
    } else {
        mean_ = 0;
        correction_ = 1;
    }
}

void SmoothedSeries::set_weight(double weight) {
    weight_ = weight;
    smooth.clear();
    smooth.reserve(std::max(expected_, raw.size()));
    mean_ = 0;
    correction_ = 1;
}

} // namespace espalier
