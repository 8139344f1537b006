// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "metric_series.h"

#include <vector>

namespace espalier {

/// A series and its exponential mean (of the values' own count, corrected for its start; not finite values are left out
/// of the mean). After a change of weight `smooth` begins anew and may lag behind.
struct SmoothedSeries {
    MetricSeries raw, smooth;

    void append(std::int64_t step, const std::vector<float>& values);
    void truncate_after(std::int64_t step);
    void set_weight(double weight);
    [[nodiscard]] double weight() const { return weight_; }
    [[nodiscard]] bool is_level() const { return smooth.size() == raw.size(); }
    /// Smooths the next `most` samples, if there are so many.
    void extend(std::size_t most);
    void reserve(std::size_t count);
    void clear(); ///< all but the weight

private:
    double weight_ = 0.9;
    double mean_ = 0, correction_ = 1; ///< of the samples so far
    std::size_t expected_ = 0;
};

} // namespace espalier
