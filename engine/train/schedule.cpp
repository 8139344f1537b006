// SPDX-License-Identifier: Apache-2.0
#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace espalier {

double learning_rate_at(const ScheduleConfig& schedule, double base, std::int64_t step, std::int64_t steps_per_epoch,
                        std::int64_t epochs) {
    const auto per_epoch = static_cast<double>(steps_per_epoch);
    const auto at = static_cast<double>(step);
    const double warmup = std::round(schedule.warmup_epochs * per_epoch);
    if (at < warmup)
        return base * (at + 1) / (warmup + 1);

    if (schedule.kind == "cosine") {
        const double length = std::max(1.0, static_cast<double>(epochs) * per_epoch - warmup);
        const double progress = std::min(1.0, (at - warmup) / length);
        return schedule.minimum + (base - schedule.minimum) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
    }
    if (schedule.kind == "step") {
        const auto passed = std::ranges::count_if(schedule.step_epochs,
                                                  [&](double epoch) { return std::round(epoch * per_epoch) <= at; });
        return base * std::pow(schedule.gamma, static_cast<double>(passed));
    }
    return base;
}

} // namespace espalier
