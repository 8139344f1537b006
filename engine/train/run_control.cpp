// SPDX-License-Identifier: Apache-2.0
#include "train/run_control.h"

namespace espalier {

void RunControl::poll() {
    last_poll_ = Clock::now();
    while (const auto command = commands_.poll())
        take(*command);
}

bool RunControl::leaving_step() {
    if (Clock::now() - last_poll_ >= commands_.patience())
        poll();
    return stop_wanted() || pause_;
}

bool RunControl::is_long(double seconds) const {
    return std::chrono::duration<double>(seconds) >= commands_.patience();
}

bool RunControl::leaving() {
    poll();
    return stop_wanted() || pause_;
}

bool RunControl::take_checkpoint_wish() { return std::exchange(checkpoint_, false); }

void RunControl::wait_while_paused() {
    using namespace std::chrono_literals;
    while (pause_ && !stop_wanted())
        if (const auto command = commands_.wait(500ms))
            take(*command);
    pause_ = false;
}

void RunControl::enter(const std::string& phase, const std::string& reason) {
    phase_ = phase;
    tell(reason);
}

void RunControl::set_position(double epoch, std::int64_t step) {
    epoch_ = epoch;
    step_ = step;
}

void RunControl::take(Command command) {
    switch (command) {
    case Command::pause:
        if (!pause_ && phase_ != "paused")
            tell("A checkpoint will be written, then the run pauses.");
        pause_ = true;
        break;
    case Command::resume:
        pause_ = false;
        break;
    case Command::stop:
        if (!stop_)
            tell(phase_ == "preparing" ? "There is nothing new to keep: the run stops."
                                       : "A checkpoint will be written, then the run stops.");
        stop_ = true;
        break;
    case Command::checkpoint:
        if (!checkpoint_)
            tell("A checkpoint will be written after this step.");
        checkpoint_ = true;
        break;
    case Command::abandon:
        abandoned_ = true;
        break;
    }
}

void RunControl::tell(const std::string& reason) {
    Json event = make_event("phase");
    event["phase"] = phase_;
    event["epoch"] = epoch_;
    event["step"] = step_;
    event["reason"] = reason;
    events_.send(std::move(event));
}

} // namespace espalier
