// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/events.h"

namespace espalier {

/// What the user wants of the run now. Every loop of the trainer asks it often enough that a command is taken within
/// 2 seconds; each command is answered at once by a `phase` event whose reason says what will happen.
class RunControl {
public:
    RunControl(CommandSource& commands, EventSink& events) : commands_(commands), events_(events) {}

    /// Takes the commands that have come.
    void poll();
    /// Polls, and says whether the work in hand should be left: a pause or a stop is wanted.
    [[nodiscard]] bool leaving();
    /// Between two kernels: polls if the last time was CommandSource::patience() ago, and says whether a stop is
    /// wanted, or a pause.
    [[nodiscard]] bool leaving_step();
    /// Whether work that took `seconds` takes long enough to be asked leaving_step().
    [[nodiscard]] bool is_long(double seconds) const;

    [[nodiscard]] bool stop_wanted() const { return stop_ || abandoned_; }
    [[nodiscard]] bool abandoned() const { return abandoned_; }
    [[nodiscard]] bool pause_wanted() const { return pause_; }
    /// Whether a checkpoint was asked for; asking takes the wish away.
    [[nodiscard]] bool take_checkpoint_wish();
    /// Waits until a resume or a stop comes.
    void wait_while_paused();

    /// Enters a phase of the protocol ("training", "evaluating", ...) and tells the window.
    void enter(const std::string& phase, const std::string& reason = "");
    [[nodiscard]] const std::string& phase() const { return phase_; }
    void set_position(double epoch, std::int64_t step);

private:
    void take(Command command);
    void tell(const std::string& reason);

    using Clock = std::chrono::steady_clock;
    CommandSource& commands_;
    EventSink& events_;
    std::string phase_ = "preparing";
    double epoch_ = 0;
    std::int64_t step_ = 0;
    bool stop_ = false;
    bool abandoned_ = false;
    bool pause_ = false;
    bool checkpoint_ = false;
    Clock::time_point last_poll_{};
};

} // namespace espalier
