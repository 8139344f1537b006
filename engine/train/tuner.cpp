// SPDX-License-Identifier: Apache-2.0
#include "train/tuner.h"

#include "train/run_events.h"

#include <algorithm>
#include <utility>

namespace espalier {
namespace {

constexpr double slice = 0.1; // seconds: commands are taken in between

} // namespace

Tuner::Tuner(RunSetup& setup, EventSink& events, Clock::time_point start)
    : setup_(setup), events_(events), start_(start), done_(setup.config.tuning_seconds <= 0) {}

double Tuner::seconds_since_start() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

bool Tuner::between_updates(std::int64_t step) {
    if (first_step_ < 0)
        first_step_ = step;
    if (step == first_step_)
        return false;
    auto& backend = *setup_.backend;
    if (!begun_) {
        backend.synchronize(); // once: the first update is done when its kernels are
        begun_ = true;
        first_update_ = Clock::now();
        setup_.first_step_seconds = seconds_since_start();
        return true;
    }
    if (done_)
        return false;
    const double passed = std::chrono::duration<double>(Clock::now() - first_update_).count();
    const double spent = backend.tuning().seconds;
    const double left = setup_.config.tuning_seconds - spent;
    if (spent > passed / 2 && left > 0)
        return false;
    if (left > 0 && backend.tune(std::min(slice, left)))
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
