// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/run_control.h"
#include "train/run_setup.h"

namespace espalier {

/// set_up_run() in a thread of its own, so that commands are answered meanwhile, and the reading of images is told.
/// Comes back without a network if a stop was wanted; else its backend is the calling thread's. Throws as set_up_run().
[[nodiscard]] RunSetup set_up_answering(const RunConfig& config, const KeptPrecision& kept, RunControl& control);

} // namespace espalier
