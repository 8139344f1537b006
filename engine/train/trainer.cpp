// SPDX-License-Identifier: Apache-2.0
#include "train/trainer.h"

#include "base/counted.h"
#include "base/error_words.h"
#include "io/run_folder.h"
#include "train/blame.h"
#include "train/checkpointing.h"
#include "train/evaluation.h"
#include "train/network_nodes.h"
#include "train/passport.h"
#include "train/recorder.h"
#include "train/resume.h"
#include "train/run_events.h"
#include "train/training_loop.h"
#include "train/tuner.h"

#include <atomic>
#include <cmath>
#include <future>
#include <optional>

namespace espalier {
namespace {

constexpr auto progress_distance = std::chrono::milliseconds(500);
constexpr auto training_goes_on = "No checkpoint could be written, and training goes on without.";
constexpr auto kept_by_the_pause = "No checkpoint could be written: while the run pauses, what it has learned since "
                                   "the last one is in its memory alone.";

class Trainer {
public:
    Trainer(const std::filesystem::path& folder, EventSink& events, CommandSource& commands)
        : folder_(folder), checkpoint_folder_(folder_.checkpoints()), events_(folder, events),
          control_(commands, events_) {}

    RunOutcome run();
    RunOutcome fail(const std::string& reason, ExitCode code);
    RunOutcome diverged(const Diverged& error);
    RunOutcome out_of_memory(const std::string& reason);
    RunOutcome device_fault(const std::string& reason);

private:
    bool set_up();
    void begin_or_resume();
    void tell_setup();
    void tell_backend_faults();
    bool run_epochs();
    bool evaluate_epoch();
    void end_epoch(const std::optional<Totals>& validation);
    bool test();
    bool safe_point();
    bool between_updates();
    void write_passport();
    bool pause_or_leave();
    void pause();
    [[nodiscard]] CheckpointInfo begin_saving();
    void save();
    bool try_to_save(bool best, bool asked = false);
    [[nodiscard]] KeptPrecision kept_precision() const;
    [[nodiscard]] bool go_back_to_finite_values();
    RunOutcome leave();
    RunOutcome make_way(const FallbackNote& next, ExitCode code);

    RunFolder folder_;
    CheckpointFolder checkpoint_folder_;
    Recorder events_;
    RunControl control_;
    RunSetup setup_;
    RunState state_;
    ParameterStore store_;
    std::optional<Checkpointing> checkpoints_;
    std::optional<TrainingLoop> loop_;
    std::optional<Tuner> tuner_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    bool recording_fault_told_ = false;
    bool stale_passport_told_ = false;
    bool network_has_the_state_ = false; ///< values that belong to state_, so that they can be saved
};

RunOutcome Trainer::run() {
    control_.enter("preparing");
    if (!set_up())
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

/// Prepares in a thread of its own, so that commands are answered meanwhile.
bool Trainer::set_up() {
    const auto config = RunConfig::from_json(read_json(folder_.config()));
    std::atomic<bool> leaving = false;
    std::atomic<std::size_t> read = 0, images = 0;
    const WorkWatch watch{.progress =
                              [&](std::size_t done, std::size_t total) {
                                  read = done;
                                  images = total;
                              },
                          .leave = [&] { return leaving.load(); }};
    auto prepared = std::async(std::launch::async, [&, kept = kept_precision()] {
        return set_up_run(config, watch, ImageFilesUse::decoded, kept);
    });
    std::size_t told = 0;
    auto next_telling = std::chrono::steady_clock::now() + progress_distance;
    while (prepared.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
        control_.poll();
        leaving = control_.stop_wanted();
        if (const auto now = std::chrono::steady_clock::now(); now >= next_telling && read != told) {
            told = read;
            next_telling = now + progress_distance;
            control_.enter("preparing",
                           "Reading images: " + std::to_string(told) + " of " + std::to_string(images) + ".");
        }
    }
    setup_ = prepared.get();
    if (setup_.backend)
        setup_.backend->enter_thread();
    return setup_.network && !control_.stop_wanted();
}

/// Of the newest checkpoint: what "auto" has once come to stays, as long as the backend does. What a rung or the user
/// has set is no longer kept when the setting is "auto" again.
KeptPrecision Trainer::kept_precision() const {
    try {
        const auto state = RunState::from_json(read_checkpoint_info(checkpoint_folder_.last()).run_state);
        return state.precision_asked == "auto" ? KeptPrecision{state.backend, state.precision} : KeptPrecision{};
    } catch (const Error&) {
        return {}; // none yet, or one that starting_point() will complain about
    }
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
    loop_.emplace(setup_, state_, control_, events_);
    tuner_.emplace(setup_, events_, start_);
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
    write_passport();
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
    write_passport();
}

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
    write_passport(); // a short run may end before it is tuned
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
    if (tuner_->between_updates(state_.step))
        write_passport();
    return safe_point();
}

/// Where one stands already, and another program holds it, training is worth more.
void Trainer::write_passport() {
    try {
        write_json(folder_.passport(), make_passport(setup_, read_object(folder_.passport())));
    } catch (const Error& error) {
        if (!std::filesystem::exists(folder_.passport()))
            throw;
        if (!std::exchange(stale_passport_told_, true))
            warn(events_, std::string("The run's passport is an older one. ") + error.what());
    }
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
    if (saved)
        return;
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

RunOutcome Trainer::leave() {
    if (network_has_the_state_)
        save();
    if (loop_)
        write_passport();
    RunOutcome outcome{"stopped", ExitCode::stopped, "Stopped by the user."};
    if (control_.abandoned())
        outcome = {"interrupted", ExitCode::failed, "The supervisor of this run is gone; the state was saved."};
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
    if (next && go_back_to_finite_values())
        return make_way(*next, ExitCode::failed);
    return fail(std::string(error.what()) + " " + way_back(folder_, setup_.config), error.code());
}

/// An update that overflows is left out, but its forward has changed the running statistics: the newest checkpoint
/// without a trace of it becomes the newest of all. True if the run can go on, be it from its beginning.
bool Trainer::go_back_to_finite_values() {
    const auto names = checkpoint_folder_.names();
    for (const auto& name : names) {
        const auto file = checkpoint_folder_.find(name);
        try {
            if (!load_checkpoint(file).store.all_finite())
                continue;
        } catch (const CheckpointError&) {
            continue; // damaged
        }
        if (name != names.front())
            checkpoint_folder_.go_back_to(file);
        return true;
    }
    return names.empty();
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
        outcome.blame = blame_record(setup_, reason, control_.phase(), state_.step + 1);
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

} // namespace

RunOutcome train_run(const std::filesystem::path& folder, EventSink& events, CommandSource& commands) {
    std::optional<Trainer> made;
    try {
        made.emplace(folder, events, commands);
    } catch (const Error& error) { // a full disk, for example: nothing can be recorded, but it is told
        events.send(error_event(error.what(), static_cast<int>(error.code())));
        RunControl(commands, events).enter("failed", error.what());
        return {"failed", error.code(), error.what()};
    }
    Trainer& trainer = *made;
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

} // namespace espalier
