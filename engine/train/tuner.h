// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/events.h"
#include "train/run_setup.h"
#include "train/run_state.h"

#include <chrono>
#include <cstdint>

namespace espalier {

/// Lets a device time its algorithms between the first updates of a run. The run begins with the library's guesses, or
/// with what earlier runs have left on disk. Timing takes at most as long as the updates in between, in all at most
/// tuning_seconds and a tenth of the time that the run's updates take: a short run would not win back more, and later
/// runs go on where it ended. Then the steps are planned anew, once.
class Tuner {
public:
    /// `start`: when this worker began, from which the times of the passport count. The state is the run's, and all
    /// that work() takes is added to its seconds by the caller.
    Tuner(RunSetup& setup, const RunState& state, EventSink& events, std::chrono::steady_clock::time_point start);

    /// Between two updates: whether work() has something to do.
    [[nodiscard]] bool is_due() const;
    /// When the device is done with its updates. True where the passport has something new to say.
    bool work();

private:
    [[nodiscard]] double seconds_of_updates() const;
    [[nodiscard]] double budget() const;
    void finish();
    [[nodiscard]] double seconds_since_start() const;

    RunSetup& setup_;
    const RunState& state_;
    EventSink& events_;
    std::chrono::steady_clock::time_point start_;
    std::int64_t first_step_;      ///< updates before this worker's first one
    std::int64_t begin_step_ = -1; ///< updates when timing could begin; below 0: not yet
    double begin_seconds_ = 0;     ///< of the run, then
    double spent_ = 0;             ///< seconds of timing
    bool done_;
};

} // namespace espalier
