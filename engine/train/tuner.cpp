// SPDX-License-Identifier: Apache-2.0
#include "train/tuner.h"

#include "train/run_events.h"

#include <algorithm>
#include <utility>

namespace espalier {
namespace {

constexpr double slice = 0.1; // seconds: commands are taken in between
constexpr double worth = 0.1; // of the time of all updates: about as much as they get faster by it

} // namespace

Tuner::Tuner(RunSetup& setup, const RunState& state, EventSink& events, std::chrono::steady_clock::time_point start)
    : setup_(setup), state_(state), events_(events), start_(start), first_step_(state.step),
      done_(setup.config.tuning_seconds <= 0) {}

double Tuner::seconds_since_start() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double Tuner::seconds_of_updates() const { return state_.seconds - begin_seconds_ - spent_; }

/// Seconds of timing in all, by the updates' pace so far.
double Tuner::budget() const {
    const auto taken = state_.step - begin_step_; // numbers of steps count those of other batch sizes, too
    const auto left = setup_.steps_per_epoch * (setup_.config.epochs - state_.epoch) - state_.epoch_step;
    const double pace = seconds_of_updates() / static_cast<double>(taken);
    return std::min(setup_.config.tuning_seconds, worth * pace * static_cast<double>(taken + left));
}

bool Tuner::is_due() const {
    if (begin_step_ < 0)
        return state_.step > first_step_;
    return !done_ && seconds_of_updates() >= std::max(slice, spent_);
}

bool Tuner::work() {
    auto& backend = *setup_.backend;
    if (begin_step_ < 0) { // the first update is done
        begin_step_ = state_.step;
        begin_seconds_ = state_.seconds;
        setup_.first_step_seconds = seconds_since_start();
        return true;
    }
    const double left = budget() - spent_;
    const bool some_are_open = left > 0 && backend.tune(std::min(slice, left));
    spent_ = backend.tuning().seconds;
    if (some_are_open)
        return false;
    finish();
    return true;
}

void Tuner::finish() {
    done_ = true;
    (void)setup_.backend->tune(0); // keeps what was found: this process may be killed
    const auto tuning = setup_.backend->tuning();
    if (tuning.improved > 0) {
        setup_.network->replan();
        events_.send(plan_event(setup_)); // kernels and workspace are others now
    }
    if (tuning.timed > 0)
        setup_.tuned_seconds = seconds_since_start();
    auto found = std::exchange(*setup_.kernel_fallbacks, {}); // by the new plans
    for (const auto& text : tuning.rejected)
        found.push_back({"algorithm", "the fastest", "the next one", text});
    for (auto& note : found) {
        events_.send(fallback_event(note));
        setup_.fallbacks.push_back(std::move(note));
    }
    for (const auto& text : tuning.warnings)
        warn(events_, text);
}

} // namespace espalier
