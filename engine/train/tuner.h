// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/events.h"
#include "train/run_setup.h"

#include <chrono>
#include <cstdint>

namespace espalier {

/// Lets a device time its algorithms between the first updates of a run. The run begins with the library's guesses, or
/// with what earlier runs have left on disk. Timing takes at most as long as the updates in between, so that even a
/// short run takes at most twice as long as without, and tuning_seconds in all; then the steps are planned anew, once.
class Tuner {
public:
    /// `start`: when this worker began, from which the times of the passport count.
    Tuner(RunSetup& setup, EventSink& events, std::chrono::steady_clock::time_point start);

    /// Between two updates; `step` is the number of the last one. True where the passport has something new to say.
    bool between_updates(std::int64_t step);

private:
    using Clock = std::chrono::steady_clock;
    void finish();
    [[nodiscard]] double seconds_since_start() const;

    RunSetup& setup_;
    EventSink& events_;
    Clock::time_point start_, first_update_{};
    std::int64_t first_step_ = -1;
    bool begun_ = false, done_;
};

} // namespace espalier
