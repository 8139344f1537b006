// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/events.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace espalier {

/// What is known of one update.
struct StepRecord {
    std::int64_t step = 0; ///< number, from 1
    double epoch = 0;      ///< fractional, before the update
    double learning_rate = 0;
    double loss = 0;     ///< mean over the batch
    double accuracy = 0; ///< of the batch, 0 to 1
    double seconds = 0;
};

/// Joins steps into `steps` events: at most 20 lines a second, no step lost.
class StepReporter {
public:
    explicit StepReporter(EventSink& events) : events_(events) {}

    void add(const StepRecord& record);
    /// Emits what waits if the last line is at least 50 ms old.
    void flush_if_due();
    /// Emits what waits: at the end of an epoch, before a checkpoint, in a pause.
    void flush();

private:
    using Clock = std::chrono::steady_clock;
    EventSink& events_;
    std::vector<StepRecord> waiting_;
    Clock::time_point last_{};
};

} // namespace espalier
