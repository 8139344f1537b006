// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/checkpoint_folder.h"
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

} // namespace espalier
