// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/checkpoint_folder.h"
#include "train/events.h"
#include "train/run_setup.h"
#include "train/run_state.h"

#include <chrono>
#include <string_view>

namespace espalier {

/// Decides when a run writes checkpoints, writes them and tells the window.
class Checkpointing {
public:
    Checkpointing(CheckpointFolder& folder, const CheckpointConfig& config, EventSink& events);

    /// Whether the steps or minutes of the configuration have passed since the last one. Never while the loss is not a
    /// finite number: the last good checkpoint is worth more.
    [[nodiscard]] bool due(const RunState& state) const;
    /// What a checkpoint holds, with the values taken out of the plans into `store`.
    static CheckpointInfo take(const RunSetup& setup, RunState state, ParameterStore& store);
    /// Writes what was taken. Throws Error if the disk refuses.
    void write(const CheckpointInfo& info, const ParameterStore& store, bool best = false);
    /// What becomes of a run whose checkpoint the disk refuses, for people.
    struct Refusal {
        std::string_view consequence; ///< begins the warning, before the reason
        bool always_told = false;     ///< else once until one can be written
    };
    /// The same, but what the disk refuses is told in a warning, and false is returned: a run is worth more than one of
    /// its checkpoints. The next one is tried when it is due.
    bool try_to_write(const CheckpointInfo& info, const ParameterStore& store, bool best, const Refusal& refusal);
    /// A run was resumed from the checkpoint of this step: it need not be written again.
    void resumed_from(std::int64_t step) { last_step_ = step; }

private:
    using Clock = std::chrono::steady_clock;
    CheckpointFolder& folder_;
    CheckpointConfig config_;
    EventSink& events_;
    Clock::time_point last_time_ = Clock::now();
    std::int64_t last_step_ = 0;
    bool refused_ = false; ///< the last one, by the disk
};

} // namespace espalier
