// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/checkpoint_folder.h"
#include "io/run_folder.h"
#include "train/run_setup.h"
#include "train/run_state.h"

#include <string>
#include <vector>

namespace espalier {

/// Values and place from which a run goes on.
struct StartingPoint {
    ParameterStore store;
    RunState state;
    bool from_checkpoint = false;
    std::vector<std::string> warnings; ///< for people
};

/// The newest valid checkpoint of the run, fitted to `setup`; first values by the seed where there is none at all.
/// Throws CheckpointError if there are checkpoints but none can be used (a run never starts anew in silence), or if the
/// newest one belongs to another network or other classes.
[[nodiscard]] StartingPoint starting_point(const CheckpointFolder& folder, const RunSetup& setup);

/// Of the newest checkpoint: what "auto" has once come to stays, as long as the backend does. What a rung or the user
/// has set is no longer kept when the setting is "auto" again.
[[nodiscard]] KeptPrecision kept_precision(const CheckpointFolder& folder);

/// Whether a run in this state has trained all its epochs, and tested where there is a test part.
[[nodiscard]] bool nothing_left(const RunState& state, const RunConfig& config, const RunSets& sets);
/// Throws ConfigError, naming a number of epochs that would do, if nothing is left.
void check_something_left(const RunState& state, const RunConfig& config, const RunSets& sets);

/// What can be known of a resume before anything of the run is changed: what fit_to_listed_data finds, that the newest
/// checkpoint belongs to this network and these classes, and that something is left to do. Throws what the run itself
/// would. `file`: the checkpoint to go on from, if not the newest.
void check_resume(const CheckpointFolder& folder, RunConfig config, const std::filesystem::path& file = {},
                  const WorkWatch& watch = {});

/// For a run that diverged: how to go on, naming a checkpoint only if there is one whose loss was still a finite
/// number.
[[nodiscard]] std::string way_back(const RunFolder& run, const RunConfig& config);

/// The same for one that goes on by itself: the newest checkpoint without a trace of numbers that are not finite
/// becomes the newest of all. (An update that overflows is left out, but its forward has changed the running
/// statistics.) True if the run can go on, be it from its beginning.
[[nodiscard]] bool go_back_to_finite_values(CheckpointFolder& folder);

} // namespace espalier
