// SPDX-License-Identifier: GPL-3.0-or-later
#include "metric_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier {

namespace {
constexpr std::size_t fan = 4; ///< blocks of one level in a block of the next

std::size_t span_of(std::size_t level) { return std::size_t{1} << (2 * (level + 1)); }
} // namespace

void Extent::add(double value) {
    low = empty ? value : std::min(low, value);
    high = empty ? value : std::max(high, value);
    empty = false;
}

void Extent::add(const Extent& other) {
    if (other.empty)
        return;
    add(other.low);
    add(other.high);
}

void MetricSeries::append(std::int64_t step, float value) { append(step, &value, 1); }

void MetricSeries::append(std::int64_t first_step, const float* values, std::size_t count) {
    if (count == 0)
        return;
    if (!empty() && first_step <= last_step())
        truncate_after(first_step - 1);
    const std::size_t begin = size();
    begin_stretch(first_step);
    values_.insert(values_.end(), values, values + count);
    take_in(begin);
}

void MetricSeries::append(const std::vector<Sample>& samples) {
    const std::size_t begin = size();
    values_.reserve(begin + samples.size());
    for (const Sample& sample : samples) {
        begin_stretch(std::llround(sample.step));
        values_.push_back(static_cast<float>(sample.value));
    }
    take_in(begin);
}

void MetricSeries::begin_stretch(std::int64_t step) {
    if (stretches_.empty() ||
        stretches_.back().step + static_cast<std::int64_t>(size() - stretches_.back().index) != step)
        stretches_.push_back({size(), step});
}

void MetricSeries::take_in(std::size_t begin) {
    for (std::size_t i = begin; i < size(); ++i)
        if (!std::isfinite(values_[i]))
            non_finite_.push_back(i);
    grow_levels();
    for (std::size_t level = 0; level < levels_.size(); ++level)
        for (std::size_t i = begin / span_of(level); i * span_of(level) < size(); ++i)
            refresh(level, i);
}

void MetricSeries::reserve(std::size_t count) {
    values_.reserve(count);
    for (std::size_t level = 0; level < levels_.size(); ++level)
        levels_[level].reserve(count / span_of(level) + 1);
}

void MetricSeries::truncate_after(std::int64_t step) {
    const std::size_t end = lower_index(static_cast<double>(step) + 0.5);
    if (end >= size())
        return;
    values_.resize(end);
    while (!stretches_.empty() && stretches_.back().index >= end)
        stretches_.pop_back();
    non_finite_.erase(std::lower_bound(non_finite_.begin(), non_finite_.end(), end), non_finite_.end());
    for (std::size_t level = 0; level < levels_.size(); ++level) {
        levels_[level].resize((end + span_of(level) - 1) / span_of(level));
        if (!levels_[level].empty())
            refresh(level, levels_[level].size() - 1); // its last block lost values
    }
}

void MetricSeries::clear() { *this = {}; }

std::int64_t MetricSeries::step_at(std::size_t index) const {
    const auto after = std::upper_bound(stretches_.begin(), stretches_.end(), index,
                                        [](std::size_t i, const Stretch& stretch) { return i < stretch.index; });
    const Stretch& stretch = *(after - 1);
    return stretch.step + static_cast<std::int64_t>(index - stretch.index);
}

std::size_t MetricSeries::lower_index(double step) const {
    const auto after =
        std::upper_bound(stretches_.begin(), stretches_.end(), step,
                         [](double s, const Stretch& stretch) { return s < static_cast<double>(stretch.step); });
    if (after == stretches_.begin())
        return 0;
    const Stretch& stretch = *(after - 1);
    const auto inside = static_cast<std::size_t>(std::ceil(step - static_cast<double>(stretch.step)));
    const std::size_t end = after == stretches_.end() ? size() : after->index;
    return std::min(stretch.index + inside, end);
}

std::size_t MetricSeries::index_at(double step) const {
    const std::size_t index = lower_index(step);
    if (index < size() && static_cast<double>(step_at(index)) <= step)
        return index;
    return index == 0 ? size() : index - 1;
}

MetricSeries::Block MetricSeries::block(std::size_t level, std::size_t index) const { return levels_[level][index]; }

void MetricSeries::refresh(std::size_t level, std::size_t index) {
    Block result{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), true};
    const auto add = [&](float low, float high, bool low_first) {
        if (low > high) // nothing finite in there
            return;
        const bool lower = low<result.low, higher = high> result.high;
        if (lower && higher)
            result.low_first = low_first;
        else if (lower)
            result.low_first = false;
        else if (higher)
            result.low_first = true;
        result.low = std::min(result.low, low);
        result.high = std::max(result.high, high);
    };
    if (level == 0) {
        for (std::size_t i = index * fan; i < std::min((index + 1) * fan, size()); ++i)
            if (std::isfinite(values_[i]))
                add(values_[i], values_[i], true);
    } else {
        const auto& below = levels_[level - 1];
        for (std::size_t i = index * fan; i < std::min((index + 1) * fan, below.size()); ++i)
            add(below[i].low, below[i].high, below[i].low_first);
    }
    auto& blocks = levels_[level];
    if (index >= blocks.size())
        blocks.resize(index + 1);
    blocks[index] = result;
}

void MetricSeries::grow_levels() {
    while (size() > span_of(levels_.size())) { // there is more than one block of the next level
        const std::size_t level = levels_.size();
        levels_.emplace_back().reserve(values_.capacity() / span_of(level) + 1);
        for (std::size_t i = 0; i * span_of(level) < size(); ++i)
            if (level == 0 || i * fan < levels_[level - 1].size())
                refresh(level, i);
    }
}

Extent MetricSeries::extent_of(std::size_t begin, std::size_t end) const {
    Extent extent;
    while (begin < end) {
        // the largest block that starts here and ends within the range
        std::size_t level = levels_.size();
        while (level > 0 && (begin % span_of(level - 1) != 0 || begin + span_of(level - 1) > end))
            --level;
        if (level == 0) {
            if (std::isfinite(values_[begin]))
                extent.add(values_[begin]);
            ++begin;
            continue;
        }
        const Block found = block(level - 1, begin / span_of(level - 1));
        if (found.low <= found.high) {
            extent.add(found.low);
            extent.add(found.high);
        }
        begin += span_of(level - 1);
    }
    return extent;
}

Extent MetricSeries::extent(double low, double high) const {
    return extent_of(lower_index(low), lower_index(std::nextafter(high, std::numeric_limits<double>::infinity())));
}

void MetricSeries::reduce(double low, double high, int columns, std::vector<Sample>& out) const {
    out.clear();
    std::size_t begin = lower_index(low);
    std::size_t end = lower_index(std::nextafter(high, std::numeric_limits<double>::infinity()));
    begin -= begin > 0 ? 1 : 0;
    end += end < size() ? 1 : 0;
    const std::size_t budget = static_cast<std::size_t>(std::max(columns, 1));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (end - begin <= 4 * budget) {
        for (std::size_t i = begin; i < end; ++i)
            out.push_back({static_cast<double>(step_at(i)), std::isfinite(values_[i]) ? values_[i] : nan});
        return;
    }
    std::size_t level = 0;
    while (level + 1 < levels_.size() && (end - begin) / span_of(level) > budget)
        ++level;
    const std::size_t span = span_of(level);
    for (std::size_t i = begin / span; i * span < end; ++i) {
        const Block found = block(level, i);
        const auto middle = static_cast<double>(step_at(std::min(i * span + span / 2, size() - 1)));
        if (found.low > found.high) {
            out.push_back({middle, nan});
            continue;
        }
        out.push_back({middle, found.low_first ? found.low : found.high});
        out.push_back({middle, found.low_first ? found.high : found.low});
    }
    // the ends are exact: a curve starts and stops where its data does
    if (begin == 0 && std::isfinite(values_.front()))
        out.insert(out.begin(), {static_cast<double>(step_at(0)), values_.front()});
    if (end == size() && std::isfinite(values_.back()))
        out.push_back({static_cast<double>(last_step()), values_.back()});
}

void MetricSeries::non_finite(double low, double high, int columns, std::vector<Sample>& out) const {
    out.clear();
    const std::size_t begin = lower_index(low);
    const std::size_t end = lower_index(std::nextafter(high, std::numeric_limits<double>::infinity()));
    const double width = (high - low) / std::max(columns, 1);
    double next = -std::numeric_limits<double>::infinity();
    for (auto it = std::lower_bound(non_finite_.begin(), non_finite_.end(), begin);
         it != non_finite_.end() && *it < end;) {
        const auto step = static_cast<double>(step_at(*it));
        if (step >= next) {
            out.push_back({step, values_[*it]});
            next = step + width;
            ++it;
        } else { // jump to the next column: a whole diverged run is one leap a column
            it = std::lower_bound(it, non_finite_.end(), std::max(lower_index(next), *it + 1));
        }
    }
}

std::size_t MetricSeries::bytes() const {
    std::size_t sum = values_.capacity() * sizeof(float) + stretches_.capacity() * sizeof(Stretch) +
                      non_finite_.capacity() * sizeof(std::size_t);
    for (const auto& level : levels_)
        sum += level.capacity() * sizeof(Block);
    return sum;
}

} // namespace espalier
