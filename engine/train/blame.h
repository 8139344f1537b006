// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/run_setup.h"

#include <cstdint>
#include <string>

namespace espalier {

/// What is known of a device fault: {"error", "phase", "step", "certainty", "layer", "kind", "kernel", "launched":
/// [{"layer", "kind", "kernel"}], "memory", "backend", "precision", "safe_mode"}. A GPU reports a fault at some later
/// call, so it is never known which kernel failed: `launched` are the last ones before the report, the latest first,
/// `layer`, `kind` and `kernel` are those of the latest, and `certainty` says in words how far back the fault may lie.
/// Asks nothing of the device. `step`: the update in hand, or the last one where the phase is another than training.
[[nodiscard]] Json blame_record(const RunSetup& setup, const std::string& error, const std::string& phase,
                                std::int64_t step);

/// Adds the record as a line to the file, with the time. A disk that refuses is no further fault.
void append_blame(const std::filesystem::path& file, const Json& record);

} // namespace espalier
