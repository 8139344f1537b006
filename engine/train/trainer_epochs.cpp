// SPDX-License-Identifier: Apache-2.0
// A run's epochs: updates, evaluations, and what is done between two of them.
#include "base/counted.h"
#include "train/run_events.h"
#include "train/run_trainer.h"

namespace espalier {
namespace {

constexpr auto training_goes_on = "No checkpoint could be written, and training goes on without.";
constexpr auto kept_by_the_pause = "No checkpoint could be written: while the run pauses, what it has learned since "
                                   "the last one is in its memory alone.";

} // namespace

bool Trainer::run_epochs() {
    const auto& config = setup_.config;
    while (state_.epoch < config.epochs) {
        control_.enter("training");
        if (loop_->train_epoch([this] { return between_updates(); }) && evaluate_epoch()) {
            if (config.patience > 0 && state_.evaluations_since_best >= config.patience) {
                warn(events_, "Stopped early: no better evaluation in " + counted(config.patience, "epoch") + ".");
                break;
            }
        } else if (!pause_or_leave()) {
            return false;
        }
    }
    save();
    passport_.write(setup_); // a short run may end before it is tuned
    return true;
}

bool Trainer::evaluate_epoch() {
    std::optional<Totals> validation;
    if (!setup_.sets.validation.empty()) {
        control_.enter("evaluating");
        const auto start = std::chrono::steady_clock::now();
        const auto feed = setup_.evaluation_feed(setup_.sets.validation);
        validation = evaluate(
            *setup_.network, *feed, [this] { return safe_point(); }, [this] { return control_.leaving_step(); });
        if (!validation)
            return false;
        state_.spend(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    end_epoch(validation);
    return true;
}

void Trainer::end_epoch(const std::optional<Totals>& validation) {
    ++state_.epoch;
    state_.epoch_step = 0;
    state_.tested = false;
    events_.send(epoch_event(state_));
    bool best = false;
    const auto best_before = state_;
    if (validation) {
        best = state_.take_evaluation(*validation);
        events_.send(evaluation_event(state_, "validation", *validation, best));
    }
    state_.training = {};
    state_.epoch_seconds = 0;
    control_.set_position(static_cast<double>(state_.epoch), state_.step);
    if (best && !try_to_save(true)) { // what was the best before is still there
        state_.best_accuracy = best_before.best_accuracy;
        state_.best_loss = best_before.best_loss;
        state_.best_epoch = best_before.best_epoch;
    }
}

/// Measures the best network on the test part, once, at the end.
bool Trainer::test() {
    if (setup_.sets.test.empty())
        return true;
    control_.enter("evaluating");
    network_has_the_state_ = false;
    if (state_.best_epoch > 0 && std::filesystem::exists(checkpoint_folder_.best()))
        setup_.network->load(load_checkpoint(checkpoint_folder_.best()).store);
    const auto feed = setup_.evaluation_feed(setup_.sets.test);
    const auto totals = evaluate(
        *setup_.network, *feed,
        [this] {
            control_.poll();
            return control_.stop_wanted();
        },
        [this] { return control_.leaving_step() && control_.stop_wanted(); });
    setup_.network->load(store_);
    network_has_the_state_ = true;
    if (!totals)
        return false;
    state_.tested = true;
    auto event = evaluation_event(state_, "test", *totals, false);
    if (state_.best_epoch > 0)
        event["epoch"] = state_.best_epoch;
    events_.send(std::move(event));
    save();
    return true;
}

/// Between two steps, and between two batches of an evaluation: true if the work must be left.
bool Trainer::safe_point() {
    tell_backend_faults();
    if (control_.leaving())
        return true;
    const bool wished = control_.take_checkpoint_wish();
    if (wished || checkpoints_->due(state_)) {
        loop_->drain();
        if (!wished && state_.bad_steps > 0) // known only now
            return false;
        const auto phase = control_.phase();
        try_to_save(false, wished);
        control_.enter(phase);
    }
    return false;
}

bool Trainer::between_updates() {
    if (loop_->tune())
        passport_.write(setup_);
    return safe_point();
}

/// Pauses if that was asked for; false if the run must be left.
bool Trainer::pause_or_leave() {
    if (control_.stop_wanted())
        return false;
    pause();
    if (control_.stop_wanted())
        return false;
    setup_.network->load(store_);
    network_has_the_state_ = true;
    return true;
}

/// Where the disk has no room, the host's memory keeps the state: there may be some when the pause ends.
void Trainer::pause() {
    const auto taken = begin_saving();
    const bool saved = checkpoints_->try_to_write(taken, store_, false, {kept_by_the_pause, true});
    network_has_the_state_ = false;
    setup_.network->release();
    control_.enter("paused", "The memory is free again.");
    control_.wait_while_paused();
    if (saved) {
        if (!control_.stop_wanted())
            control_.enter("training"); // memory may be short now, or the device gone: no pause any more
        return;
    }
    control_.enter("saving");
    if (control_.stop_wanted())
        checkpoints_->write(taken, store_);
    else
        checkpoints_->try_to_write(taken, store_, false, {training_goes_on});
}

/// Brings the state up to the last update, and the network's values into the store.
CheckpointInfo Trainer::begin_saving() {
    control_.enter("saving");
    loop_->drain();
    tell_backend_faults();
    return Checkpointing::take(setup_, state_, store_);
}

/// What the run cannot end without: its last state.
void Trainer::save() { checkpoints_->write(begin_saving(), store_); }

bool Trainer::try_to_save(bool best, bool asked) {
    return checkpoints_->try_to_write(begin_saving(), store_, best, {training_goes_on, asked});
}

} // namespace espalier
