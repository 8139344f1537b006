// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/json.h"

#include <cstdint>
#include <random>
#include <vector>

namespace espalier::test {

/// Events like those of a run that learns, for tests and pictures that need no engine: the curves are a formula with
/// noise from a fixed seed.
class SampleRun {
public:
    explicit SampleRun(std::int64_t steps_per_epoch = 63, std::int64_t epochs = 12, double start_time = 1.79e9);

    Json hello(int run = 1);
    Json plan();
    Json phase(const char* name, const char* reason = "");
    /// The next `count` steps; an epoch's end is not crossed.
    Json steps(std::int64_t count);
    Json resources();
    Json layers(); ///< a step timed layer by layer
    Json fallback(const char* rung, const char* from, const char* to, const char* reason, const Json& undo);
    Json epoch_end();
    Json evaluation();
    Json checkpoint(std::vector<std::string> kinds = {"last"});
    Json event(const char* type, Json fields);

    [[nodiscard]] std::int64_t step() const { return step_; }
    [[nodiscard]] std::int64_t last_step() const { return steps_per_epoch_ * epochs_; }
    [[nodiscard]] std::int64_t left_in_epoch() const { return steps_per_epoch_ - step_ % steps_per_epoch_; }
    void advance_time(double seconds) { time_ += seconds; }
    /// From here on it says that it trains on an H100.
    void use_gpu() { gpu_ = true; }

    /// All events up to (and with) step `until`, as events.jsonl would hold them; the run is not ended.
    std::vector<Json> past(std::int64_t until);

private:
    [[nodiscard]] double loss_at(double step) const;
    [[nodiscard]] double accuracy_at(double step) const;

    std::int64_t steps_per_epoch_, epochs_, step_ = 0;
    double time_;
    bool gpu_ = false;
    double best_ = 0;
    std::int64_t best_epoch_ = 0;
    std::mt19937 random_{7};
};

} // namespace espalier::test
