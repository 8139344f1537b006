// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "io/run_folder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// A run as the list of runs shows it, derived from its folder alone.
struct RunSummary {
    std::string path, name, preset;
    /// running, paused or queued only while a living supervisor answers; else how its last worker went: finished,
    /// stopped, failed, or interrupted if nobody wrote that down.
    std::string state = "interrupted";
    double epoch = 0; ///< epochs done
    std::int64_t epochs = 0;
    std::int64_t step = 0;
    std::optional<double> best_accuracy; ///< 0 to 1; nothing where no evaluation had a finite loss
    double started = 0;                  ///< seconds since 1970
    double seconds = 0;                  ///< of training, as far as the run said so
    std::string reason;                  ///< of a failure, or of an interruption where it is known
    std::size_t queue = 0;               ///< place in the queue, from 1; 0: it does not wait
    bool checkpoint = false;             ///< there is one to resume from
    std::string notes;                   ///< free text of the user
    std::vector<std::string> tags;

    [[nodiscard]] Json to_json() const;
};

[[nodiscard]] RunSummary summarize(const RunFolder& run);
/// Newest first. A run whose files are damaged is listed with the damage as its reason.
[[nodiscard]] std::vector<RunSummary> summarize_all(const std::filesystem::path& root);

} // namespace espalier
