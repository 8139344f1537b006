// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

namespace espalier {

/// What the horizontal axis counts.
enum class AxisKind { step, epoch, time };

/// Which epoch, and which second of training, a step was: points that grow with the run, straight lines between them.
/// Series are kept by step alone; this is how they are shown by epoch or time.
class StepClock {
public:
    /// Epoch and seconds of training (pauses not counted) at the end of `step`; steps at or after it are taken back.
    void add(double step, double epoch, double seconds);
    void truncate_after(double step);
    void clear() { points_.clear(); }
    /// Epochs of a step, to look beyond the last point.
    void set_steps_per_epoch(double steps) { steps_per_epoch_ = steps; }

    [[nodiscard]] double to_axis(AxisKind kind, double step) const;
    [[nodiscard]] double to_step(AxisKind kind, double value) const;
    [[nodiscard]] double seconds() const { return points_.empty() ? 0 : points_.back().seconds; }

private:
    struct Point {
        double step, epoch, seconds;
    };
    [[nodiscard]] double interpolate(double Point::*from, double Point::*to, double value) const;

    std::vector<Point> points_; ///< all three columns grow
    double steps_per_epoch_ = 0;
};

} // namespace espalier
