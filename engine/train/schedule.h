// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/run_config.h"

#include <cstdint>

namespace espalier {

/// Learning rate of one step: a pure function of where the step stands, so that a resumed run repeats the column
/// exactly. `step` counts from 0 over the whole run. Linear warm-up from 0 over the first warmup_epochs; then the
/// schedule over what is left: cosine falls from `base` to `minimum` along half a cosine (Loshchilov and Hutter 2017,
/// without restarts), step multiplies by gamma at each of step_epochs (counted from the beginning of the run). Requires
/// steps_per_epoch >= 1. Steps beyond the end keep the last value.
[[nodiscard]] double learning_rate_at(const ScheduleConfig& schedule, double base, std::int64_t step,
                                      std::int64_t steps_per_epoch, std::int64_t epochs);

} // namespace espalier
