// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/run_setup.h"

namespace espalier {

/// How long the whole run will take, in seconds: a step of the same network with few images (a fraction of a second of
/// work) is timed, and scaled by the FLOPs of all steps and evaluations. Right within a factor of about 1.5 on a
/// machine that has nothing else to do.
[[nodiscard]] double estimated_seconds(RunSetup& setup);

} // namespace espalier
