// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_model.h"

namespace espalier {

/// The button that helps a run that waits or has ended.
struct WayOn {
    QString title;
    QString action; ///< as RunActions::perform() takes it
};

/// A run goes on from its last checkpoint. Without one there is nothing to resume: a run that failed needs other
/// settings, any other one begins anew.
[[nodiscard]] WayOn way_on(const RunModel& run);

} // namespace espalier
