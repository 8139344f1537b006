// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "worker/past_stretch.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace espalier {

/// A table as the event of the protocol that it stands for, its columns in base64: of steps those that `wanted` names,
/// of resources all.
[[nodiscard]] std::string packed_event(const ColumnTable& table, const std::vector<std::string>& wanted);

/// The past in a few thousand numbers, to be seen while all of it is on its way: the steps in force in at most 1,024
/// buckets of equal width, with the least, greatest and mean value of each series in each bucket. Of the whole run, or
/// of a stretch of it alone; then also loss and accuracy smoothed, if a weight above 0 is given. docs/PROTOCOL.md gives
/// its form. Null if the run has no steps. Throws ConfigError if the
/// stretch begins behind the newest step, Error of code `stopped` when asked to stop.
[[nodiscard]] Json overview_of(RunPast& past, const std::vector<std::string>& wanted, const std::stop_token& stop,
                               const std::optional<StepRange>& range = {}, double smoothing = 0);

} // namespace espalier
