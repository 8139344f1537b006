// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_model.h"

namespace espalier {

/// A sentence on the last checkpoint of a run: its epoch and step, and how long ago it was written; after a day, when.
/// `now`: seconds since 1970.
[[nodiscard]] QString checkpoint_words(const RunModel& run, double now);

} // namespace espalier
