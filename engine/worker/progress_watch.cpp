// SPDX-License-Identifier: Apache-2.0
#include "worker/progress_watch.h"

#include "worker/protocol.h"

#include <algorithm>
#include <vector>

namespace espalier {
namespace {

constexpr std::size_t steps_kept = 101;
constexpr double steps_of_patience = 20;
constexpr double other_phases = 10; // loading, evaluating and saving show no steps
constexpr ProgressWatch::Seconds longest_tick(3);

} // namespace

void ProgressWatch::saw(const Json& event) {
    const auto phase = protocol::text_at(event, "phase");
    if (!phase.empty() && phase != phase_) {
        phase_ = phase;
        progress();
    }
    // "Reading images: 1,500 of 60,000." A phase without steps tells in words how far it is.
    if (protocol::is_event(event, "phase") && protocol::text_at(event, "reason") != reason_) {
        reason_ = protocol::text_at(event, "reason");
        progress();
    }
    std::int64_t step = protocol::whole_at(event, "step", -1);
    if (protocol::is_event(event, "steps")) {
        step = protocol::last_step(event);
        if (const auto seconds = event.find("seconds"); seconds != event.end() && seconds->is_array())
            for (const auto& value : *seconds)
                step_seconds_.push_back(protocol::to_double(value));
        while (step_seconds_.size() > steps_kept)
            step_seconds_.pop_front();
    }
    if (step >= 0 && step != step_) {
        step_ = step;
        progress();
    }
}

ProgressWatch::Verdict ProgressWatch::tick(Seconds elapsed) {
    if (phase_ == "paused")
        return Verdict::fine;
    still_ += std::min(elapsed, longest_tick);
    if (still_ >= 2 * limit())
        return Verdict::hung;
    if (still_ < limit() || warned_)
        return Verdict::fine;
    warned_ = true;
    return Verdict::slow;
}

void ProgressWatch::restart() {
    progress();
    step_ = -1;
    phase_ = "preparing";
}

ProgressWatch::Seconds ProgressWatch::limit() const {
    if (phase_ != "training")
        return other_phases * limit_;
    std::vector<double> seconds(step_seconds_.begin(), step_seconds_.end());
    if (seconds.empty())
        return limit_;
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return std::max(limit_, Seconds(steps_of_patience * *middle));
}

void ProgressWatch::progress() {
    still_ = Seconds(0);
    warned_ = false;
}

} // namespace espalier
