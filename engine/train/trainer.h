// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "train/events.h"
#include "train/fallback.h"

#include <filesystem>
#include <functional>
#include <string>

namespace espalier {

/// How a run ended.
struct RunOutcome {
    std::string phase; ///< "finished", "stopped", "failed" or "interrupted"
    ExitCode code = ExitCode::done;
    std::string reason; ///< one or two sentences for people; empty if all went well
    /// What a new worker should do otherwise so that the run goes on; then there was no last phase.
    std::optional<FallbackNote> next;
    Json blame; ///< of a device fault (train/blame.h), else null; then too
};

/// Trains the run in a folder by its config.json: from the beginning, or from its newest valid checkpoint. Emits the
/// events of docs/PROTOCOL.md from `plan` to the last `phase`, takes commands, writes checkpoints, metrics.csv and
/// passport.json. Never throws: a fault is told as an `error` event and in the outcome. `ended` hears the outcome when
/// every file is written and the device is still open: to let go of one that has failed may never come to an end.
RunOutcome train_run(const std::filesystem::path& folder, EventSink& events, CommandSource& commands,
                     const std::function<void(const RunOutcome&)>& ended = {});

} // namespace espalier
