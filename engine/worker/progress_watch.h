// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

namespace espalier {

/// Watches whether a worker gets on. While it trains, its step number must not stand still for longer than 60 s or 20
/// median steps, whichever is longer; in other phases it gets ten times as long
/// (and a `phase` that says something new is progress, too). Twice that: the worker counts as hung.
/// Only time in which the supervisor itself ran is counted, so a sleeping machine is no fault.
class ProgressWatch {
public:
    using Seconds = std::chrono::duration<double>;
    enum class Verdict { fine, slow, hung }; ///< slow is said once until there is progress again

    explicit ProgressWatch(Seconds limit = Seconds(60)) : limit_(limit) {}

    void saw(const Json& event);
    /// Called about once a second with the time since the last call.
    [[nodiscard]] Verdict tick(Seconds elapsed);
    /// A new worker: nothing has been seen.
    void restart();

    [[nodiscard]] Seconds still_for() const { return still_; }
    [[nodiscard]] const std::string& phase() const { return phase_; }

private:
    [[nodiscard]] Seconds limit() const;
    void progress();

    Seconds limit_;
    Seconds still_{0};
    bool warned_ = false;
    std::int64_t step_ = -1;
    std::string phase_ = "preparing";
    std::string reason_;              ///< of the latest `phase`
    std::deque<double> step_seconds_; ///< of the latest steps
};

} // namespace espalier
