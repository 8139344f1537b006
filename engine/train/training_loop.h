// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "train/resources.h"
#include "train/run_control.h"
#include "train/run_setup.h"
#include "train/run_state.h"
#include "train/step_reporter.h"
#include "train/tuner.h"

#include <chrono>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

namespace espalier {

/// Loss or gradient were not finite numbers in too many updates in a row: the weights have run away, or fp16 cannot
/// hold them.
class Diverged : public Error {
public:
    using Error::Error;
};

/// Takes the updates of an epoch, from wherever RunState says that it stands, and reports them. No update waits for the
/// host: results are read in batches, and by drain().
class TrainingLoop {
public:
    /// What happens between two updates: true if the loop must leave.
    using SafePoint = std::function<bool()>;

    /// `start`: when this worker began.
    TrainingLoop(RunSetup& setup, RunState& state, RunControl& control, EventSink& events,
                 std::chrono::steady_clock::time_point start);

    /// Trains until the epoch's updates are done (true), or `safe_point` says leave (false). A long update is left in
    /// its middle where RunControl says so, and counts as not begun. Throws Diverged, naming the cause, after
    /// max_bad_steps updates in a row whose loss or gradient is not a finite number; in fp16 after 20, or one at the
    /// smallest loss scale.
    bool train_epoch(const SafePoint& safe_point);
    /// At a safe point: lets the device time algorithms where that is due, which is time of the run, but of no update.
    /// True where the passport has something new to say.
    bool tune();
    /// Brings RunState and events up to the last update taken.
    void drain();
    /// Whether an exception has left an update in its middle: then what the network holds belongs to no state.
    [[nodiscard]] bool in_update() const { return in_update_; }
    /// Gives up what was loaded ahead.
    void stop_loading() { feed_->stop(); }

private:
    using Clock = std::chrono::steady_clock;
    struct Taken {
        StepRecord record;
        std::vector<std::int64_t> images; ///< of each part
        double flops = 0;
        bool profiled = false;
    };

    /// False if it was left in the middle, as if it had not been begun.
    bool take_update();
    void settle(const Taken& taken, std::span<const BatchResult> parts);
    [[noreturn]] void give_up(const StepRecord& record) const;
    void check_results();
    /// Updates in a row without a finite result after which there is no hope.
    [[nodiscard]] std::int64_t most_bad_steps() const;
    [[nodiscard]] bool at_the_floor() const;
    void read_results_if_due();
    void read_results();
    /// Of the updates taken longest ago.
    void take(std::span<const BatchResult> results);
    void tell_position();
    /// Gives the updates taken longest ago, which are done, the time that has gone by since those before them were.
    void share_out_time(std::size_t updates);
    [[nodiscard]] bool profile_is_due() const;
    void report_profile(std::int64_t batch);

    RunSetup& setup_;
    RunState& state_;
    RunControl& control_;
    EventSink& events_;
    std::unique_ptr<BatchFeed> feed_;
    StepReporter reporter_;
    ResourceReporter resources_;
    Tuner tuner_;
    bool safe_;
    bool in_update_ = false;
    std::deque<Taken> taken_;             ///< updates whose results have not been read yet
    std::size_t parts_taken_ = 0;         ///< of these updates
    std::size_t parts_not_asked_for_ = 0; ///< since the history was asked for last
    double seconds_an_image_ = std::numeric_limits<double>::infinity(); ///< of the last update; the first may be long
    Clock::time_point last_reading_{};
    std::optional<Clock::time_point> stretch_; ///< since when updates follow each other that have not been timed
    Clock::time_point last_profile_{};
    std::int64_t last_profiled_step_ = 0;
};

} // namespace espalier
