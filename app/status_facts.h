// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_model.h"
#include "status_strip.h"

namespace espalier {

/// What the line at the bottom says of a run whose plan is known. `live`: it trains now, so that the age of its last
/// checkpoint says more than the checkpoint's step. `now`: seconds since 1970.
[[nodiscard]] std::vector<StatusStrip::Fact> status_facts(const RunModel& run, bool live, double now);
/// One sentence where there are no facts.
[[nodiscard]] std::vector<StatusStrip::Fact> status_hint(const QString& text);

} // namespace espalier
