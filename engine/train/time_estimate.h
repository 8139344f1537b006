// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/run_setup.h"

namespace espalier {

/// How long the whole run will take, in seconds: steps of the same network are timed for a fraction of a second, of the
/// run's own batch if there is time for it, and scaled to all images of training and evaluation. Right within a factor
/// of about 1.5 on a machine that has nothing else to do. Callers in several threads wait for each other.
[[nodiscard]] double estimated_seconds(RunSetup& setup);

} // namespace espalier
