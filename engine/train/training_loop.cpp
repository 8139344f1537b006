// SPDX-License-Identifier: Apache-2.0
#include "train/training_loop.h"

#include "base/counted.h"
#include "base/error.h"
#include "base/faults.h"
#include "train/layer_report.h"
#include "train/schedule.h"

#include <cmath>
#include <numeric>
#include <sstream>

namespace espalier {
namespace {

constexpr auto reading_distance = std::chrono::milliseconds(50);
// A profiled step costs a little more than a plain one, and a line of the profile is long.
constexpr auto profile_distance = std::chrono::seconds(5);
constexpr std::int64_t steps_between_trims = 50; // in safe mode
constexpr std::int64_t overflows_in_a_row = 20;  // more than a scale that starts too high needs
constexpr double smallest_loss_scale = 1;        // of the op update_loss_scale
constexpr std::int64_t profile_steps = 100;
constexpr std::int64_t first_profiled_step = 10; // the first steps of a process are not typical

} // namespace

TrainingLoop::TrainingLoop(RunSetup& setup, RunState& state, RunControl& control, EventSink& events,
                           Clock::time_point start)
    : setup_(setup), state_(state), control_(control), events_(events), feed_(setup.training_feed()), reporter_(events),
      resources_(events, setup.backend->device().peak(setup.network->precision()), setup.backend->monitor()),
      tuner_(setup, state, events, start), safe_(setup.config.toggles.safe_mode) {}

bool TrainingLoop::train_epoch(const SafePoint& safe_point) {
    // A loader works ahead into the next epoch too, so that it never starts cold.
    feed_->start(state_.epoch, state_.epoch_step * setup_.config.accumulation, setup_.config.epochs);
    while (state_.epoch_step < setup_.steps_per_epoch) {
        if (safe_point() || !take_update()) {
            in_update_ = false; // given up, if it was begun
            drain();
            feed_->stop();
            return false;
        }
        if (safe_)
            check_results();
        else
            read_results_if_due();
    }
    drain();
    return true;
}

bool TrainingLoop::tune() {
    if (!tuner_.is_due())
        return false;
    drain();
    const auto start = Clock::now();
    const bool news = tuner_.work();
    state_.spend(std::chrono::duration<double>(Clock::now() - start).count());
    return news;
}

bool TrainingLoop::take_update() {
    const auto& config = setup_.config;
    const bool profiled = profile_is_due();
    if (profiled)
        read_results(); // a profiled update takes longer: it is timed by itself
    const auto start = Clock::now();
    stretch_ = stretch_.value_or(start);
    faults::before_step(state_.step + 1);
    const auto place = state_.epoch * setup_.steps_per_epoch + state_.epoch_step;
    Taken taken{.profiled = profiled};
    taken.record.step = state_.step + 1;
    taken.record.epoch = static_cast<double>(state_.epoch) +
                         static_cast<double>(state_.epoch_step) / static_cast<double>(setup_.steps_per_epoch);
    taken.record.learning_rate =
        learning_rate_at(config.schedule, config.optimizer.learning_rate, place, setup_.steps_per_epoch, config.epochs);

    const auto first_batch = state_.epoch_step * config.accumulation;
    const auto parts = std::min(config.accumulation, setup_.batches_per_epoch - first_batch);
    const Interrupt leave = [this] { return control_.leaving_step(); };
    // A device of its own cannot go back to before a part that it was given.
    const bool may_be_left = setup_.backend->in_host_memory() &&
                             control_.is_long(seconds_an_image_ * static_cast<double>(setup_.images_per_step()));
    const auto interrupt = may_be_left ? leave : Interrupt();
    std::int64_t images = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
        if (!feed_->wait(part == 0 ? leave : interrupt)) {
            if (part > 0)
                setup_.network->give_up_step();
            return false;
        }
        const auto batch = feed_->next();
        if (!batch)
            throw Error("The data set ended in the middle of an epoch: batch " + std::to_string(first_batch + part) +
                        " of " + std::to_string(setup_.batches_per_epoch) + " is missing.");
        in_update_ = true;
        if (!setup_.network->train(*batch, {taken.record.learning_rate, taken.record.step, part, parts}, profiled,
                                   interrupt))
            return false;
        taken.images.push_back(batch->size());
        images += batch->size();
        taken.flops += setup_.network->training_flops(batch->size());
    }
    taken.record.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    seconds_an_image_ = taken.record.seconds / static_cast<double>(images);
    parts_taken_ += static_cast<std::size_t>(parts);
    parts_not_asked_for_ += static_cast<std::size_t>(parts);
    if (profiled)
        report_profile(taken.images.back());
    taken_.push_back(std::move(taken));
    ++state_.step;
    ++state_.epoch_step;
    in_update_ = false;
    if (profiled)
        read_results();
    return true;
}

void TrainingLoop::drain() {
    read_results();
    reporter_.flush();
    stretch_.reset(); // what comes now is no update
}

/// Safe mode: no update begins before the one before it has proved sound.
void TrainingLoop::check_results() {
    const auto before = state_.bad_steps;
    read_results();
    reporter_.flush_if_due();
    if (state_.bad_steps > 0 && before == 0)
        warn(events_, "Update " + std::to_string(state_.step) +
                          " gave a loss or a gradient that is not a finite number, and was left out.");
    if (state_.step % steps_between_trims == 0)
        setup_.backend->trim_caches();
}

void TrainingLoop::read_results_if_due() {
    // Accumulated updates are never longer than the history: see the limit of `accumulation`.
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(1, history_rows - setup_.config.accumulation));
    const auto now = Clock::now();
    const bool due = now - last_reading_ >= reading_distance;
    const bool waits = setup_.backend->in_host_memory(); // for nothing: what has been trained is there
    if (!waits)
        take(setup_.network->take_ready_history());
    if (parts_taken_ >= room || (waits && due)) {
        read_results();
    } else if (!waits && (due || parts_not_asked_for_ >= room / 2) && setup_.network->ask_for_history()) {
        // A device of its own works on meanwhile.
        parts_not_asked_for_ = 0;
        last_reading_ = now;
    }
    reporter_.flush_if_due();
}

void TrainingLoop::read_results() {
    take(setup_.network->take_history()); // waits for the device
    last_reading_ = Clock::now();
}

void TrainingLoop::take(std::span<const BatchResult> results) {
    if (results.empty())
        return;
    std::size_t updates = 0;
    for (std::size_t parts = 0; parts < results.size(); ++updates)
        parts += taken_[updates].images.size();
    share_out_time(updates);
    for (; updates > 0; --updates) {
        const auto taken = std::move(taken_.front());
        taken_.pop_front();
        const auto parts = taken.images.size();
        parts_taken_ -= parts;
        settle(taken, results.first(parts));
        results = results.subspan(parts);
    }
    tell_position();
}

void TrainingLoop::tell_position() {
    control_.set_position(static_cast<double>(state_.epoch) +
                              static_cast<double>(state_.epoch_step) / static_cast<double>(setup_.steps_per_epoch),
                          state_.step);
    resources_.report_if_due(state_.step, [this] { return setup_.network->memory(); });
}

void TrainingLoop::share_out_time(std::size_t updates) {
    const auto now = Clock::now();
    double enqueued = 0; // on a device of its own that is the host's time alone
    for (std::size_t i = 0; i < updates; ++i)
        enqueued += taken_[i].record.seconds;
    const double seconds = stretch_ ? std::chrono::duration<double>(now - *stretch_).count() : enqueued;
    for (std::size_t i = 0; i < updates; ++i) {
        auto& taken = taken_[i];
        taken.record.seconds *= enqueued > 0 ? seconds / enqueued : 1;
        if (!taken.profiled)
            resources_.count(taken.flops, std::accumulate(taken.images.begin(), taken.images.end(), std::int64_t{0}),
                             taken.record.seconds);
    }
    stretch_ = now;
}

void TrainingLoop::settle(const Taken& taken, std::span<const BatchResult> parts) {
    Totals totals;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto images = static_cast<double>(taken.images[i]);
        totals.loss += parts[i].loss * images;
        totals.correct += parts[i].correct;
        totals.images += images;
    }
    state_.training.loss += totals.loss;
    state_.training.correct += totals.correct;
    state_.training.images += totals.images;
    state_.spend(taken.record.seconds);

    StepRecord record = taken.record;
    record.loss = totals.mean_loss();
    record.accuracy = totals.accuracy();
    reporter_.add(record);

    const double norm = parts.back().gradient_norm;
    state_.bad_steps = std::isfinite(record.loss) && std::isfinite(norm) ? 0 : state_.bad_steps + 1;
    if (state_.bad_steps > 0 && (state_.bad_steps >= most_bad_steps() || at_the_floor())) {
        reporter_.flush();
        give_up(record);
    }
}

std::int64_t TrainingLoop::most_bad_steps() const {
    const auto most = setup_.config.max_bad_steps;
    return setup_.network->precision() == "fp16" ? std::min(most, overflows_in_a_row) : most;
}

bool TrainingLoop::at_the_floor() const {
    return setup_.network->precision() == "fp16" && setup_.network->loss_scale_now() <= smallest_loss_scale;
}

void TrainingLoop::give_up(const StepRecord& record) const {
    std::ostringstream rate;
    rate << record.learning_rate;
    const std::string what = std::isfinite(record.loss) ? "gradient" : "loss";
    throw Diverged("The " + what + " was not a finite number in " + counted(state_.bad_steps, "step") +
                   " in a row, from step " + std::to_string(record.step - state_.bad_steps + 1) +
                   " on. At a learning rate of " + rate.str() +
                   " the weights have most likely run away: take a smaller one, or clip the gradient "
                   "(optimizer.clip_norm).");
}

bool TrainingLoop::profile_is_due() const {
    return state_.step >= first_profiled_step && Clock::now() - last_profile_ >= profile_distance &&
           (last_profiled_step_ == 0 || state_.step - last_profiled_step_ >= profile_steps ||
            Clock::now() - last_profile_ >= 10 * profile_distance);
}

void TrainingLoop::report_profile(std::int64_t batch) {
    const auto& step = setup_.network->training_step(batch);
    Json event = make_event("layers");
    event["step"] = state_.step + 1;
    event["layers"] = profile_rows(layer_table(step.compiled.graph, setup_.network->plan_of(step).ops()));
    events_.send(std::move(event));
    last_profile_ = Clock::now();
    last_profiled_step_ = state_.step + 1;
}

} // namespace espalier
