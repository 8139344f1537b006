// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/run_folder.h"

#include <string>

namespace espalier {

/// A zip with what a report of a fault needs of a run: its state, configuration, passport, device faults, and the ends
/// of its log and its events; no image, no weight, none of the user's notes. Throws ConfigError if there is no run.
[[nodiscard]] std::string run_report(const RunFolder& run);

/// A file name for it.
[[nodiscard]] std::string report_name(const RunFolder& run);

} // namespace espalier
