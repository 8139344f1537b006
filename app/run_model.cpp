// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_model.h"

#include "engine_words.h"
#include "format.h"
#include "json_convert.h"
#include "toggle_words.h"
#include "worker/protocol.h"

#include <QDateTime>
#include <QElapsedTimer>
#include <QFileInfo>
#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

constexpr double longest_silence = 30; // seconds; a worker says something every second

bool is_end(RunState state) { return !is_active(state); }

constexpr int smoothing_budget_ms = 15;
constexpr std::size_t smoothing_slice = 50'000; ///< samples: about a millisecond

} // namespace

RunModel::RunModel(QString path, QObject* parent)
    : QObject(parent), path_(std::move(path)), name_(QFileInfo(path_).fileName()) {}

void RunModel::set_name(const QString& name, const QString& kind) {
    name_ = name;
    kind_ = kind;
}

void RunModel::reset() {
    loss.clear();
    accuracy.clear();
    validation_loss.clear();
    validation_accuracy.clear();
    for (MetricSeries& series : memory)
        series.clear();
    process.clear();
    gflops.clear();
    utilisation.clear();
    speed.clear();
    clock.clear();
    state_ = RunState::preparing;
    saving_ = evaluating_ = told_preparing_ = false;
    reason_.clear();
    step_ = 0;
    plan_.reset();
    checkpoint_.reset();
    checkpoints_.clear();
    bests_.clear();
    warnings_ = 0;
    undo_ = Json::object();
    changes_.clear();
    resumed_ = false;
    layer_places_.clear();
    ++layers_version_;
    profiled_step_ = 0;
    profiled_milliseconds_ = 0;
    images_per_second_ = step_seconds_ = 0;
    pace_time_ = pace_step_ = event_time_ = 0;
    resources_ = Json::object();
    markers_.clear();
    ++markers_version_;
    phases_.clear();
    story_.clear();
    log_.clear();
}

void RunModel::reserve(std::int64_t steps) {
    constexpr std::int64_t most = 100'000'000; // a number from outside: more comes as it comes
    const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(steps, 0, most));
    loss.reserve(count);
    accuracy.reserve(count);
}

void RunModel::set_smoothing(double weight) {
    if (weight == loss.weight())
        return;
    loss.set_weight(weight);
    accuracy.set_weight(weight);
    smooth_for(smoothing_budget_ms);
}

void RunModel::smooth_for(int budget_ms) {
    QElapsedTimer time;
    time.start();
    while (!(loss.is_level() && accuracy.is_level()) && time.elapsed() < budget_ms) {
        loss.extend(smoothing_slice);
        accuracy.extend(smoothing_slice);
    }
}

void RunModel::set_state(RunState state, const QString& reason) {
    if (state != RunState::running)
        evaluating_ = false;
    if (is_end(state))
        saving_ = false;
    if (state != RunState::preparing)
        told_preparing_ = false;
    if (state == state_ && reason == reason_)
        return;
    reason_ = reason;
    pace_time_ = 0; // what came before says nothing about the pace from here on
    if (state == state_)
        return;
    state_ = state;
    emit state_changed(state);
}

void RunModel::apply(const RunEvent& event) {
    if (event_time_ > 0 && std::abs(event.time - event_time_) > longest_silence)
        pace_time_ = 0; // the machine has slept, or its clock was set: that says nothing about the pace
    event_time_ = event.time;
    if (event.type == "steps") {
        take_steps(event);
    } else if (event.type == "hello") { // a worker starts: the first of the run, or after a resume or a fault
        if (protocol::number_at(event.fields, "run", 1) > 1) {
            if (state_ == RunState::paused)
                mark_pause(event.time);
            else
                mark({static_cast<double>(step_), Role::hint,
                                    tr("Went on at step %1").arg(format_count(static_cast<double>(step_)))});
            note(event, tr("The worker started again (start %1)").arg(protocol::number_at(event.fields, "run", 1)),
                 Role::secondary);
        }
        if (is_end(state_)) { // a person has resumed it
            undo_ = Json::object();
            resumed_ = true;
        }
        std::erase_if(changes_, [](const Fallback& change) { return change.undo.empty(); }); // a worker tells them anew
        set_state(RunState::preparing);
    } else if (event.type == "phase") {
        take_phase(event);
    } else if (event.type == "plan") {
        take_plan(event);
    } else if (event.type == "epoch") {
        images_per_second_ = protocol::number_at(event.fields, "images_per_second", images_per_second_);
        note(event, tr("Epoch %1: training loss %2, accuracy %3, %4 images/s")
                        .arg(format_count(event.epoch), format_loss(protocol::number_at(event.fields, "loss")),
                             format_percent(protocol::number_at(event.fields, "accuracy")),
                             format_count(std::round(images_per_second_))));
    } else if (event.type == "evaluation") {
        take_evaluation(event);
    } else if (event.type == "checkpoint") {
        take_checkpoint(event);
    } else if (event.type == "resources") {
        take_resources(event);
    } else if (event.type == "layers") {
        take_layers(event);
    } else if (event.type == "fallback") {
        take_fallback(event);
    } else if (event.type == "warning") {
        ++warnings_;
        note(event, engine_words(text_at(event.fields, "text")), Role::attention);
    } else if (event.type == "error") {
        const QString why = engine_words(text_at(event.fields, "text"));
        note(event, why, Role::fault);
        if (!is_end(state_))
            reason_ = why;
    } else if (event.type == "superseded") {
        take_back(event);
    } else if (event.type == "bye") {
        const auto code = static_cast<int>(protocol::number_at(event.fields, "code"));
        const QString why = engine_words(text_at(event.fields, "reason"));
        note(event, why.isEmpty() ? tr("The worker has ended") : tr("The worker has ended: %1").arg(why),
             Role::secondary);
        if (!is_end(state_)) // an end without its phase
            set_state(code == 0   ? RunState::finished
                      : code == 6 ? RunState::stopped
                                  : RunState::failed,
                      why.isEmpty() ? reason_ : why);
    }
}

void RunModel::close(const QString& reason) {
    if (state_ == RunState::queued)
        set_state(RunState::interrupted, tr("It was waiting in the queue when its supervisor was lost."));
    else if (!is_end(state_))
        set_state(RunState::interrupted, reason.isEmpty() ? tr("The run ended without saying why.") : reason);
}

void RunModel::take_steps(const RunEvent& event) {
    if (event.loss.empty())
        return;
    const std::int64_t last = event.step + static_cast<std::int64_t>(event.loss.size()) - 1;
    const double before = !loss.raw.empty() && event.step <= loss.raw.last_step()
                              ? clock.to_axis(AxisKind::time, static_cast<double>(event.step) - 1)
                              : clock.seconds();
    loss.append(event.step, event.loss);
    accuracy.append(event.step, event.accuracy);
    double seconds = 0;
    for (const float value : event.seconds)
        seconds += std::isfinite(value) ? value : 0;
    const double per_epoch = plan_ ? plan_->steps_per_epoch : 0;
    const double epoch = event.epoch + (per_epoch > 0 ? static_cast<double>(event.loss.size() - 1) / per_epoch : 0);
    clock.add(static_cast<double>(last), epoch, before + seconds);
    if (!event.seconds.empty())
        step_seconds_ = seconds / static_cast<double>(event.seconds.size());
    step_ = last;
    if (pace_time_ <= 0) {
        pace_time_ = event.time;
        pace_step_ = static_cast<double>(last);
    }
    if (state_ == RunState::preparing || state_ == RunState::running)
        set_state(RunState::running, reason_);
    extend_phase(tr("training"), Role::series1);
}

void RunModel::extend_phase(const QString& name, Role role) {
    const auto at = static_cast<double>(step_);
    if (phases_.empty() || phases_.back().name != name)
        phases_.push_back({phases_.empty() ? 0 : phases_.back().end, at, role, name});
    phases_.back().end = at;
}

void RunModel::take_phase(const RunEvent& event) {
    const QString phase = text_at(event.fields, "phase");
    const QString why = engine_words(text_at(event.fields, "reason"));
    saving_ = phase == u"saving";
    evaluating_ = phase == u"evaluating";
    if (phase == u"saving")
        return;               // a moment within another state
    if (phase == u"queued") { // also after an end: it has been resumed
        set_state(RunState::queued, why);
        note(event, why.isEmpty() ? state_title(RunState::queued) : why, Role::secondary);
        return;
    }
    if (is_end(state_))
        return; // the end is told once; only a new worker's hello opens the run again
    if (phase == u"training" || phase == u"evaluating") {
        if (state_ == RunState::paused) {
            note(event, tr("Goes on"), Role::secondary);
            mark_pause(event.time);
        }
        set_state(RunState::running);
        evaluating_ = phase == u"evaluating";
        return;
    }
    const RunState next = state_named(phase);
    if (next == RunState::paused) {
        paused_at_ = event.time;
        note(event, tr("Paused at step %1").arg(format_count(static_cast<double>(step_))), Role::attention);
    } else if (next == RunState::preparing) {
        if (!std::exchange(told_preparing_, true)) // by the supervisor as well as by the worker
            note(event, tr("Preparing"), Role::secondary);
    } else if (is_end(next))
        note(event, why.isEmpty() ? state_title(next) : QStringLiteral("%1: %2").arg(state_title(next), why),
             next == RunState::failed || next == RunState::interrupted ? Role::fault : Role::good);
    set_state(next, why.isEmpty() && next == RunState::failed ? reason_ : why);
}

void RunModel::mark(PlotMarker marker) {
    markers_.push_back(std::move(marker));
    ++markers_version_;
}

void RunModel::mark_pause(double until) {
    mark(
        {static_cast<double>(step_), Role::hint,
         tr("Paused at step %1 for %2")
             .arg(format_count(static_cast<double>(step_)), format_clock(std::max(0.0, until - paused_at_)))});
}

void RunModel::take_back(const RunEvent& event) {
    const auto step = static_cast<std::int64_t>(protocol::number_at(event.fields, "from_step"));
    const std::int64_t last = step_;
    forget_after(step);
    if (last <= step)
        return;
    story_ = tr("Back to step %1: the steps up to %2 are taken anew")
                 .arg(format_count(static_cast<double>(step)), format_count(static_cast<double>(last)));
    mark({static_cast<double>(step), Role::hint, story_, {}});
    note(event, story_, Role::secondary);
}

void RunModel::forget_after(std::int64_t step) {
    loss.truncate_after(step);
    accuracy.truncate_after(step);
    validation_loss.truncate_after(step);
    validation_accuracy.truncate_after(step);
    for (MetricSeries& series : memory)
        series.truncate_after(step);
    process.truncate_after(step);
    gflops.truncate_after(step);
    utilisation.truncate_after(step);
    speed.truncate_after(step);
    clock.truncate_after(static_cast<double>(step));
    std::erase_if(bests_, [&](const Best& best) { return best.step > step; });
    std::erase_if(checkpoints_, [&](const Checkpoint& checkpoint) { return checkpoint.step > step; });
    checkpoint_ = checkpoints_.empty() ? std::nullopt : std::optional(checkpoints_.back());
    std::erase_if(markers_, [&](const PlotMarker& marker) { return marker.position > static_cast<double>(step); });
    ++markers_version_;
    for (TimelinePhase& phase : phases_)
        phase.end = std::min(phase.end, static_cast<double>(step));
    step_ = std::min(step_, step);
    pace_time_ = 0;
}

void RunModel::note(const RunEvent& event, const QString& text, Role role) {
    const QString time =
        QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(event.time * 1000)).toString(QStringLiteral("HH:mm:ss"));
    log_.push_back({time, text, role});
}

QStringList RunModel::fallbacks() const {
    QStringList words;
    for (const Fallback& change : changes_)
        words.append(change.words);
    return words;
}

std::int64_t RunModel::last_step() const {
    return plan_ ? static_cast<std::int64_t>(std::llround(plan_->steps_per_epoch * static_cast<double>(plan_->epochs)))
                 : 0;
}

double RunModel::epoch() const {
    return plan_ && plan_->steps_per_epoch > 0 ? static_cast<double>(step_) / plan_->steps_per_epoch : 0;
}

std::int64_t RunModel::current_epoch() const {
    const auto begun = static_cast<std::int64_t>(std::ceil(epoch() - 1e-9));
    return std::clamp<std::int64_t>(begun, 1, plan_ ? std::max<std::int64_t>(plan_->epochs, 1) : begun + 1);
}

std::optional<double> RunModel::seconds_left() const {
    const double steps = static_cast<double>(step_) - pace_step_;
    const double seconds = event_time_ - pace_time_;
    if (state_ != RunState::running || last_step() == 0 || pace_time_ <= 0 || steps < 1 || seconds < 1)
        return std::nullopt;
    return std::max(0.0, static_cast<double>(last_step() - step_) * seconds / steps);
}

QString RunModel::detail() const {
    const QString epochs =
        plan_ ? QStringLiteral("%1/%2").arg(std::min<std::int64_t>(current_epoch(), plan_->epochs)).arg(plan_->epochs)
              : QString();
    switch (state_) {
    case RunState::queued:
        return state_title(state_);
    case RunState::preparing:
        return tr("Preparing");
    case RunState::running:
        return epochs.isEmpty() ? tr("Running") : tr("Running · %1").arg(epochs);
    case RunState::paused:
        return tr("Paused · epoch %1").arg(current_epoch());
    case RunState::finished:
        return best_accuracy()
                   ? QStringLiteral("%1 · %2").arg(format_percent(*best_accuracy()), format_about(seconds_trained()))
                   : tr("Finished");
    case RunState::stopped:
    case RunState::failed:
    case RunState::interrupted:
        return tr("%1 · step %2").arg(state_title(state_), format_count(static_cast<double>(step_)));
    }
    return {};
}

} // namespace espalier
