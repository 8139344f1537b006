// SPDX-License-Identifier: Apache-2.0
#include "worker/restart_policy.h"

#include "base/counted.h"
#include "base/error.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr int last_known_code = static_cast<int>(ExitCode::stopped);
constexpr int kill_signal = 9, terminate_signal = 15;

/// Of a person or a system, not of a fault of the process.
bool was_sent(int signal) { return signal == kill_signal || signal == terminate_signal; }

} // namespace

std::string describe(const WorkerDeath& death) {
    std::string text;
    if (death.hung)
        text = "made no progress";
    else if (death.sent_away)
        text = "was told to leave (SIGTERM), and saved its state";
    else if (death.crashed && death.exit_code == kill_signal && death.memory_ran_out)
        text = "was killed by the system, because memory ran out";
    else if (death.crashed && was_sent(death.exit_code))
        text = "was killed (signal " + std::to_string(death.exit_code) + ")";
    else if (death.crashed)
        text = "crashed (signal " + std::to_string(death.exit_code) + ")";
    else
        text = "ended with code " + std::to_string(death.exit_code) + " without a word";
    return "The worker " + text + (death.last_words.empty() ? "." : ". Its last message: " + death.last_words);
}

Decision RestartPolicy::decide(const WorkerDeath& death, Clock::time_point now) {
    const bool progress = death.step > furthest_step_;
    furthest_step_ = std::max(furthest_step_, death.step);

    if (death.bye == static_cast<int>(ExitCode::device_fault))
        return after_device_fault(death, death.reason.empty() ? "The device failed." : death.reason, now);
    if (death.bye && death.wants_change) {
        idle_changes_ = progress ? 0 : idle_changes_ + 1;
        if (idle_changes_ < limits_.changes_without_progress)
            return {Decision::Kind::restart_changed, {}, 0, death.reason};
    }
    // What was a valid configuration before the fault is none now: the device is gone.
    if (death.bye == static_cast<int>(ExitCode::bad_configuration) && device_faults_ > 0)
        return after_device_fault(death, death.reason, now);
    if (death.bye && !death.sent_away)
        return {Decision::Kind::end, {}, *death.bye, {}};
    const bool on_purpose =
        !death.crashed && !death.hung && !death.sent_away && death.exit_code > 0 && death.exit_code <= last_known_code;
    if (death.hung || (on_purpose && death.exit_code == static_cast<int>(ExitCode::device_fault)))
        return after_device_fault(death, describe(death), now);
    if (on_purpose)
        return {Decision::Kind::end, {}, death.exit_code, describe(death)};

    idle_deaths_ = progress ? 0 : idle_deaths_ + 1;
    if (idle_deaths_ >= limits_.deaths_without_progress) {
        const auto reason =
            describe(death) + " It was started " + counted(idle_deaths_, "time") + " without taking a step further.";
        const bool by_itself = death.crashed && !was_sent(death.exit_code);
        if (!by_itself || death.on_cpu)
            return {Decision::Kind::end, {}, static_cast<int>(ExitCode::failed), reason};
        idle_deaths_ = 0;
        return after_device_fault(death, reason, now);
    }
    const auto delay = std::min(limits_.longest_delay, limits_.first_delay * (1 << std::min(idle_deaths_, 16)));
    return {Decision::Kind::restart, delay, 0, describe(death)};
}

Decision RestartPolicy::after_device_fault(const WorkerDeath& death, const std::string& reason, Clock::time_point now) {
    const bool forgiven = device_faults_ > 0 && now - last_device_fault_ > limits_.forgiven_after;
    last_device_fault_ = now;
    device_faults_ = forgiven ? 1 : device_faults_ + 1;
    if (forgiven && death.safe_mode)
        return {Decision::Kind::restart, limits_.first_delay, 0, reason};
    if (device_faults_ == 1 && death.safe_mode)
        ++device_faults_;
    if (device_faults_ == 2 && death.on_cpu)
        ++device_faults_;
    switch (device_faults_) {
    case 1:
        return {Decision::Kind::restart_in_safe_mode, limits_.first_delay, 0, reason};
    case 2:
        return {Decision::Kind::restart_on_cpu, limits_.first_delay, 0, reason};
    default:
        return {Decision::Kind::end, {}, static_cast<int>(ExitCode::device_fault), reason};
    }
}

} // namespace espalier
