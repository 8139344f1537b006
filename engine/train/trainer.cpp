// SPDX-License-Identifier: Apache-2.0
#include "train/trainer.h"

#include "base/error_words.h"
#include "train/network_nodes.h"
#include "train/preparation.h"
#include "train/resume.h"
#include "train/run_events.h"
#include "train/run_trainer.h"

#include <optional>

namespace espalier {
namespace {

/// Whatever becomes of the run.
RunOutcome outcome_of(Trainer& trainer) {
    try {
        return trainer.run();
    } catch (const Diverged& error) {
        return trainer.diverged(error);
    } catch (const OutOfMemory& error) {
        return trainer.out_of_memory(error.what());
    } catch (const DeviceError& error) {
        return trainer.device_fault(error.what());
    } catch (const Error& error) {
        return trainer.fail(error.what(), error.code());
    } catch (const std::bad_alloc&) {
        return trainer.out_of_memory("The memory of this machine is used up. Try a smaller batch.");
    } catch (const std::exception& error) {
        return trainer.fail(words_of(error), ExitCode::failed);
    }
}

} // namespace

RunOutcome Trainer::run() {
    control_.enter("preparing");
    setup_ = set_up_answering(RunConfig::from_json(read_json(folder_.config())), kept_precision(checkpoint_folder_),
                              control_);
    if (!setup_.network || control_.stop_wanted())
        return leave();
    begin_or_resume();
    tell_setup();
    if (!run_epochs())
        return leave();
    if (state_.step == 0)
        throw Error("The run ended without a single training step. Check the number of epochs and the data set.");
    if (!test())
        return leave();
    control_.enter("finished");
    return {"finished", ExitCode::done, ""};
}

void Trainer::begin_or_resume() {
    checkpoints_.emplace(checkpoint_folder_, setup_.config.checkpoint, events_);
    auto start = starting_point(checkpoint_folder_, setup_);
    for (const auto& text : start.warnings)
        warn(events_, text);
    state_ = start.state;
    store_ = std::move(start.store);
    if (start.from_checkpoint)
        checkpoints_->resumed_from(state_.step);
    if (!state_.precision.empty() &&
        state_.precision != setup_.network->precision()) { // what has overflowed there need not here
        state_.bad_steps = 0;
        state_.loss_scale = {};
    }
    setup_.network->set_loss_scale(state_.loss_scale);
    setup_.network->load(store_);
    loop_.emplace(setup_, state_, control_, events_, start_);
    control_.set_position(static_cast<double>(state_.epoch), state_.step);
    network_has_the_state_ = true;
    check_something_left(state_, setup_.config, setup_.sets);
}

void Trainer::tell_setup() {
    for (const auto& text : setup_.warnings)
        warn(events_, text);
    for (const auto& fallback : setup_.fallbacks)
        events_.send(fallback_event(fallback));
    if (setup_.config.tensorboard)
        events_.begin_tensorboard(folder_.tensorboard());
    auto plan = plan_event(setup_);
    plan["nodes"] = network_nodes(setup_.config.network, setup_.config.batch);
    events_.send(std::move(plan));
    events_.take_back_after(state_.step);
    passport_.write(setup_);
}

/// What the backend warns of, and a recorded step that was found wrong and is used no more: each told once.
void Trainer::tell_backend_faults() {
    for (const auto& text : setup_.backend->take_warnings())
        warn(events_, text);
    const auto& reason = setup_.network->recording_fault();
    if (reason.empty() || recording_fault_told_)
        return;
    recording_fault_told_ = true;
    setup_.fallbacks.push_back({"cuda_graphs", "on", "off", reason});
    events_.send(fallback_event(setup_.fallbacks.back()));
    passport_.write(setup_);
}

RunOutcome train_run(const std::filesystem::path& folder, EventSink& events, CommandSource& commands,
                     const std::function<void(const RunOutcome&)>& ended) {
    RunOutcome outcome;
    std::optional<Trainer> trainer;
    try {
        trainer.emplace(folder, events, commands);
        outcome = outcome_of(*trainer);
        trainer->close_files();
    } catch (const Error& error) { // a full disk, for example: nothing can be recorded, but it is told
        outcome = {"failed", error.code(), error.what()};
        events.send(error_event(outcome.reason, static_cast<int>(outcome.code)));
        RunControl(commands, events).enter(outcome.phase, outcome.reason);
    }
    if (ended)
        ended(outcome);
    return outcome;
}

} // namespace espalier
