// SPDX-License-Identifier: GPL-3.0-or-later
#include "step_clock.h"

#include <algorithm>

namespace espalier {

void StepClock::add(double step, double epoch, double seconds) {
    truncate_after(step - 0.5);
    if (!points_.empty()) { // a clock that ran back would make the axis ambiguous
        epoch = std::max(epoch, points_.back().epoch);
        seconds = std::max(seconds, points_.back().seconds);
    }
    points_.push_back({step, epoch, seconds});
}

void StepClock::truncate_after(double step) {
    const auto end =
        std::upper_bound(points_.begin(), points_.end(), step, [](double s, const Point& p) { return s < p.step; });
    points_.erase(end, points_.end());
}

double StepClock::interpolate(double Point::*from, double Point::*to, double value) const {
    // the run starts at (0, 0, 0); beyond the last point the mean pace of the whole run goes on
    const Point origin{0, 0, 0};
    if (points_.empty())
        return 0;
    const auto above =
        std::lower_bound(points_.begin(), points_.end(), value, [&](const Point& p, double v) { return p.*from < v; });
    const Point& high = above == points_.end() ? points_.back() : *above;
    const Point& low = above == points_.end() || above == points_.begin() ? origin : *(above - 1);
    const double width = high.*from - low.*from;
    return width > 0 ? low.*to + (value - low.*from) * (high.*to - low.*to) / width : high.*to;
}

double StepClock::to_axis(AxisKind kind, double step) const {
    if (kind == AxisKind::step)
        return step;
    if (kind == AxisKind::epoch)
        return steps_per_epoch_ > 0 && (points_.empty() || step > points_.back().step)
                   ? step / steps_per_epoch_
                   : interpolate(&Point::step, &Point::epoch, step);
    return interpolate(&Point::step, &Point::seconds, step);
}

double StepClock::to_step(AxisKind kind, double value) const {
    if (kind == AxisKind::step)
        return value;
    if (kind == AxisKind::epoch)
        return steps_per_epoch_ > 0 && (points_.empty() || value > points_.back().epoch)
                   ? value * steps_per_epoch_
                   : interpolate(&Point::epoch, &Point::step, value);
    return interpolate(&Point::seconds, &Point::step, value);
}

} // namespace espalier
