// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier {

struct Extent {
    double low = 0, high = 0;
    bool empty = true;

    void add(double value);
    void add(const Extent& other);
};

struct Sample {
    double step = 0;
    double value = 0;
};

/// One metric of a run over its steps: append-only, with a pyramid of minima and maxima above the values, so that any
/// stretch of it is drawn in time that depends on the pixels alone. Steps only grow; a resume that took steps back is a
/// truncate_after(). Values that are NaN or infinite stay in the series: they are left out of every minimum and maximum
/// and come out of non_finite().
class MetricSeries {
public:
    /// Requires `step` greater than that of the last sample; an equal or smaller one takes the samples from there on
    /// back first.
    void append(std::int64_t step, float value);
    /// `count` values at consecutive steps from `first_step` on.
    void append(std::int64_t first_step, const float* values, std::size_t count);
    /// Values at the samples' own steps, which must grow from one to the next, and from the last one here.
    void append(const std::vector<Sample>& samples);
    /// Makes room for `count` samples, so that no append has to move those before it.
    void reserve(std::size_t count);
    /// Drops every sample with a step above `step`.
    void truncate_after(std::int64_t step);
    void clear();

    [[nodiscard]] std::size_t size() const { return values_.size(); }
    [[nodiscard]] bool empty() const { return values_.empty(); }
    [[nodiscard]] std::int64_t step_at(std::size_t index) const;
    [[nodiscard]] float value_at(std::size_t index) const { return values_[index]; }
    [[nodiscard]] std::int64_t first_step() const { return empty() ? 0 : step_at(0); }
    [[nodiscard]] std::int64_t last_step() const { return empty() ? 0 : step_at(size() - 1); }
    /// Over all finite values so far.
    [[nodiscard]] Extent extent() const { return extent_of(0, size()); }
    /// Over the finite values with low <= step <= high.
    [[nodiscard]] Extent extent(double low, double high) const;
    /// The newest sample at or before `step`; none: size().
    [[nodiscard]] std::size_t index_at(double step) const;

    /// The samples with low <= step <= high and one neighbour on each side, in order, written over `out`: all of them
    /// if that is at most four a column, else the minimum and maximum of each column in the order in which they
    /// occurred there. A stretch without a finite value is one NaN, which breaks the line.
    void reduce(double low, double high, int columns, std::vector<Sample>& out) const;
    /// Steps of the values in the range that are NaN or infinite, at most one a column; the sample's value says which
    /// it was.
    void non_finite(double low, double high, int columns, std::vector<Sample>& out) const;
    [[nodiscard]] bool has_non_finite() const { return !non_finite_.empty(); }
    [[nodiscard]] std::size_t bytes() const;

private:
    /// Minimum and maximum of a block of values, and whether the minimum came first. Empty (no finite value): low >
    /// high.
    struct Block {
        float low, high;
        bool low_first;
    };
    struct Stretch { ///< consecutive steps
        std::size_t index;
        std::int64_t step;
    };

    [[nodiscard]] std::size_t lower_index(double step) const; ///< first sample with its step >= `step`
    [[nodiscard]] Block block(std::size_t level, std::size_t index) const;
    void refresh(std::size_t level, std::size_t index);
    void begin_stretch(std::int64_t step); ///< where the next value does not follow the last one
    void take_in(std::size_t begin);       ///< values from there on are new to all that is kept of them
    void grow_levels();
    [[nodiscard]] Extent extent_of(std::size_t begin, std::size_t end) const;

    std::vector<float> values_;
    std::vector<Stretch> stretches_;
    std::vector<std::vector<Block>> levels_; ///< levels_[k][i]: values_[i * 4^(k+1), (i+1) * 4^(k+1))
    std::vector<std::size_t> non_finite_;    ///< indices, ascending
};

} // namespace espalier
