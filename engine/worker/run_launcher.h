// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "data/work_watch.h"
#include "io/run_folder.h"
#include "train/run_config.h"

#include <functional>
#include <stop_token>
#include <string>

namespace espalier {

/// When a run begins: the data set and the device of one that waits may come until its turn does.
enum class Begins { now, later };
[[nodiscard]] inline Begins begin_of(bool queue) { return queue ? Begins::later : Begins::now; }

/// Throws in words if this machine cannot do a run (AnswerChildren::check_machine).
using MachineCheck = std::function<void(const RunConfig& config)>;

/// Makes the folder of a new run with its whole config.json; `out` empty: a new folder in `root`. Throws ConfigError
/// for a bad configuration or name; what fit_to_listed_data and `check` throw if it begins now; Error if the folder
/// cannot be made. None is left then. `watch` is asked while files are listed.
[[nodiscard]] RunFolder prepare_run(const Json& config, Begins begins, const MachineCheck& check,
                                    const std::filesystem::path& root, const std::filesystem::path& out = {},
                                    const WorkWatch& watch = {});

/// Removes a new run that has ended before its network was planned (no event `plan`); returns whether it was one. What
/// only the worker finds, such as too many photos that cannot be decoded, then leaves no more in the list of runs than
/// what prepare_run refuses.
bool remove_if_never_begun(const RunFolder& run);

/// Lays `changes` over the run's configuration, so that it goes on with them. Throws ConfigError if the result is none,
/// if the folder is no run's, or if the run is still running, and what check_resume throws; what `check` throws if it
/// begins now. The run stays as it was then. `checkpoint` (as CheckpointFolder::find takes it; empty: the newest) is
/// where the run goes on from: it is made the newest. Throws ConfigError if there is none of that name.
void prepare_resume(const RunFolder& run, const Json& changes, Begins begins, const MachineCheck& check,
                    const std::string& checkpoint = {}, const WorkWatch& watch = {});

/// Starts a supervisor for the run that outlives this process and waits until it answers; `queue`: until it has its
/// place in the queue, or begins. Throws Error with its log's
/// last lines if it does not; throws Error of code `stopped` when `stop` is requested.
void start_supervisor(const RunFolder& run, bool queue, std::stop_token stop = {});

} // namespace espalier
