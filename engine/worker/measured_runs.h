// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/run_config.h"

#include <filesystem>

namespace espalier {

/// How fast earlier runs of that configuration were, whatever their toggles: the newest first, at most one for each
/// setting of the toggles, each {"run": name, "toggles": those in force, "images_per_second": x, "device": "..."}.
/// Runs on other data, of another network or batch, or on another device than that of the newest one are left out.
[[nodiscard]] Json measured_runs(const std::filesystem::path& root, const RunConfig& config);

} // namespace espalier
