// SPDX-License-Identifier: Apache-2.0
// How a run ends before its end.
#include "train/blame.h"
#include "train/resume.h"
#include "train/run_events.h"
#include "train/run_trainer.h"

namespace espalier {

RunOutcome Trainer::leave() {
    if (network_has_the_state_)
        save();
    if (loop_)
        passport_.write(setup_);
    RunOutcome outcome{"stopped", ExitCode::stopped, "Stopped by the user."};
    if (control_.abandoned())
        outcome = {"interrupted", ExitCode::failed, "The run was interrupted; the state was saved."};
    control_.enter(outcome.phase, outcome.reason);
    return outcome;
}

/// The worker ends so that a new one goes on with another configuration, which the supervisor writes.
RunOutcome Trainer::make_way(const FallbackNote& next, ExitCode code) {
    if (loop_)
        loop_->stop_loading();
    return {"preparing", code, next.reason, next};
}

RunOutcome Trainer::diverged(const Diverged& error) {
    auto next = wider_precision(setup_.network->precision(), setup_.backend->automatic_precisions(),
                                "fp16 overflows without end. " + std::string(error.what()));
    if (next && go_back_to_finite_values(checkpoint_folder_))
        return make_way(*next, ExitCode::failed);
    return fail(std::string(error.what()) + " " + way_back(folder_, setup_.config), error.code());
}

RunOutcome Trainer::out_of_memory(const std::string& reason) {
    const auto next = setup_.network ? less_memory(setup_, reason) : std::nullopt; // planning has its own ladder
    if (!next)
        return fail(reason, ExitCode::out_of_memory);
    try {
        if (network_has_the_state_ && !loop_->in_update())
            save();
    } catch (const std::exception&) { // the last checkpoint will do
    }
    return make_way(*next, ExitCode::out_of_memory);
}

/// Nothing can be asked of the device any more. The supervisor decides what comes next.
RunOutcome Trainer::device_fault(const std::string& reason) {
    if (loop_)
        loop_->stop_loading();
    RunOutcome outcome{"failed", ExitCode::device_fault, reason};
    auto event = error_event(reason, static_cast<int>(outcome.code));
    if (setup_.network) {
        const auto phase = control_.phase();
        outcome.blame = blame_record(setup_, reason, phase, state_.step + (phase == "training" ? 1 : 0));
        append_blame(folder_.faults(), outcome.blame);
        event["blame"] = outcome.blame;
    }
    events_.send(std::move(event));
    return outcome;
}

RunOutcome Trainer::fail(const std::string& reason, ExitCode code) {
    if (loop_)
        loop_->stop_loading();
    events_.send(error_event(reason, static_cast<int>(code)));
    control_.enter("failed", reason);
    return {"failed", code, reason};
}

} // namespace espalier
