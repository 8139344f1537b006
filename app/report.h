// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_model.h"

namespace espalier {

/// The command line that starts a run with this configuration.
[[nodiscard]] QString command_line(const Json& config);
/// One text for a bug report: versions, device, plan, state, and the end of the log.
[[nodiscard]] QString report(const RunModel& run, const QString& device);
/// A processor's or card's name without what marketing put around it: "AMD EPYC 7B13".
[[nodiscard]] QString shortened(const QString& device);

} // namespace espalier
