// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_model.h"

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

double number(const Json& fields, const char* key, double otherwise = 0) {
    return protocol::number_at(fields, key, otherwise);
}

const Json& object_at(const Json& fields, const char* key) {
    static const Json nothing = Json::object();
    const auto field = fields.find(key);
    return field != fields.end() && field->is_object() ? *field : nothing;
}

constexpr int smoothing_budget_ms = 15;
constexpr std::size_t smoothing_slice = 50'000; ///< samples: about a millisecond

constexpr std::array<const char*, memory_parts> memory_names{"weights", "optimizer", "activations", "workspace",
                                                             "data"};

} // namespace

void SmoothedSeries::append(std::int64_t step, const std::vector<float>& values) {
    if (!raw.empty() && step <= raw.last_step())
        truncate_after(step - 1);
    const bool level = is_level();
    raw.append(step, values.data(), values.size());
    if (level)
        extend(values.size());
}

void SmoothedSeries::reserve(std::size_t count) {
    raw.reserve(count);
    smooth.reserve(count);
    expected_ = count;
}

void SmoothedSeries::extend(std::size_t most) {
    const std::size_t end = std::min(raw.size(), smooth.size() + most);
    std::vector<float> means;
    for (std::size_t i = smooth.size(); i < end;) { // one stretch of consecutive steps after the other
        const std::int64_t first = raw.step_at(i);
        const bool whole = raw.step_at(end - 1) - first == static_cast<std::int64_t>(end - 1 - i);
        means.clear();
        do {
            const float value = raw.value_at(i);
            if (std::isfinite(value)) {
                mean_ = weight_ * mean_ + (1 - weight_) * value;
                correction_ *= weight_;
            }
            means.push_back(correction_ < 1 ? static_cast<float>(mean_ / (1 - correction_)) : value);
            ++i;
        } while (i < end && (whole || raw.step_at(i) == first + static_cast<std::int64_t>(means.size())));
        smooth.append(first, means.data(), means.size());
    }
}

void SmoothedSeries::clear() {
    raw.clear();
    set_weight(weight_);
}

void SmoothedSeries::truncate_after(std::int64_t step) {
    raw.truncate_after(step);
    smooth.truncate_after(step);
    // the mean goes on from where the curve now ends
    if (!smooth.empty() && std::isfinite(smooth.value_at(smooth.size() - 1))) {
        mean_ = smooth.value_at(smooth.size() - 1);
        correction_ = 0;
    } else {
        mean_ = 0;
        correction_ = 1;
    }
}

void SmoothedSeries::set_weight(double weight) {
    weight_ = weight;
    smooth.clear();
    smooth.reserve(std::max(expected_, raw.size()));
    mean_ = 0;
    correction_ = 1;
}

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
    clock.clear();
    state_ = RunState::preparing;
    saving_ = evaluating_ = false;
    reason_.clear();
    step_ = 0;
    plan_.reset();
    checkpoint_.reset();
    best_accuracy_.reset();
    best_loss_.reset();
    best_epoch_ = 0;
    warnings_ = 0;
    fallbacks_.clear();
    undo_ = Json::object();
    changes_.clear();
    layer_places_.clear();
    ++layers_version_;
    profiled_step_ = 0;
    profiled_milliseconds_ = 0;
    images_per_second_ = step_seconds_ = 0;
    pace_time_ = pace_step_ = event_time_ = 0;
    resources_ = Json::object();
    markers_.clear();
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
    if (event_time_ > 0 && event.time - event_time_ > longest_silence)
        pace_time_ = 0; // the machine has slept: that says nothing about the pace
    event_time_ = event.time;
    if (event.type == "steps") {
        take_steps(event);
    } else if (event.type == "hello") { // a worker starts: the first of the run, or after a resume or a fault
        if (number(event.fields, "run", 1) > 1) {
            markers_.push_back({static_cast<double>(step_), Role::hint,
                                tr("Went on at step %1").arg(format_count(static_cast<double>(step_)))});
            note(event, tr("The worker started again (start %1)").arg(number(event.fields, "run", 1)), Role::secondary);
        }
        if (is_end(state_)) // a person has resumed it
            undo_ = Json::object();
        set_state(RunState::preparing);
    } else if (event.type == "phase") {
        take_phase(event);
    } else if (event.type == "plan") {
        take_plan(event);
    } else if (event.type == "epoch") {
        images_per_second_ = number(event.fields, "images_per_second", images_per_second_);
        note(event,
             tr("Epoch %1: training loss %2, accuracy %3, %4 images/s")
                 .arg(format_count(event.epoch), format_loss(number(event.fields, "loss")),
                      format_percent(number(event.fields, "accuracy")), format_count(std::round(images_per_second_))));
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
        note(event, text_at(event.fields, "text"), Role::attention);
    } else if (event.type == "error") {
        note(event, text_at(event.fields, "text"), Role::fault);
        if (!is_end(state_))
            reason_ = text_at(event.fields, "text");
    } else if (event.type == "superseded") {
        take_back(static_cast<std::int64_t>(number(event.fields, "from_step")));
    } else if (event.type == "bye") {
        const auto code = static_cast<int>(number(event.fields, "code"));
        const QString why = text_at(event.fields, "reason");
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
    if (!is_end(state_))
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
    const QString why = text_at(event.fields, "reason");
    saving_ = phase == u"saving";
    evaluating_ = phase == u"evaluating";
    if (phase == u"saving")
        return; // a moment within another state
    if (is_end(state_))
        return; // the end is told once; only a new worker's hello opens the run again
    if (phase == u"training" || phase == u"evaluating") {
        if (state_ == RunState::paused)
            note(event, tr("Goes on"), Role::secondary);
        set_state(RunState::running);
        evaluating_ = phase == u"evaluating";
        return;
    }
    const RunState next = state_named(phase);
    if (next == RunState::paused)
        note(event, tr("Paused at step %1").arg(format_count(static_cast<double>(step_))), Role::attention);
    else if (next == RunState::preparing)
        note(event, tr("Preparing"), Role::secondary);
    else if (is_end(next))
        note(event, why.isEmpty() ? state_title(next) : QStringLiteral("%1: %2").arg(state_title(next), why),
             next == RunState::failed || next == RunState::interrupted ? Role::fault : Role::good);
    set_state(next, why.isEmpty() && next == RunState::failed ? reason_ : why);
}

void RunModel::take_plan(const RunEvent& event) {
    const Json& fields = event.fields;
    Plan plan;
    if (protocol::flag_at(fields, "continued") && plan_)
        plan = *plan_; // a long plan comes in several events, which share out its layers
    plan.parameters = number(fields, "parameters", plan.parameters);
    plan.flops = number(fields, "flops", plan.flops);
    plan.steps_per_epoch = number(fields, "steps_per_epoch", plan.steps_per_epoch);
    plan.epochs = static_cast<std::int64_t>(number(fields, "epochs", static_cast<double>(plan.epochs)));
    plan.batch = static_cast<std::int64_t>(number(fields, "batch", static_cast<double>(plan.batch)));
    plan.backend = text_at(fields, "backend", plan.backend);
    plan.device = text_at(fields, "device", plan.device);
    plan.precision = text_at(fields, "precision", plan.precision);
    const Json& bytes = object_at(fields, "memory");
    for (std::size_t i = 0; i < memory_parts; ++i)
        plan.memory[i] = number(bytes, memory_names[i], plan.memory[i]);
    plan.memory_total = number(bytes, "total", plan.memory_total);
    plan.limit = number(fields, "limit", plan.limit);
    plan.device_memory = number(fields, "device_memory", plan.device_memory);
    plan.peak_gflops = number(fields, "peak_gflops", plan.peak_gflops);
    if (const Json& toggles = object_at(fields, "toggles"); !toggles.empty())
        plan.toggles = toggles;
    const auto each = [&](const char* key, auto&& take) {
        if (const auto list = fields.find(key); list != fields.end() && list->is_array())
            for (const Json& item : *list)
                take(item);
    };
    each("passes", [&](const Json& pass) {
        if (pass.is_object())
            plan.passes.append(QStringLiteral("%1 → %2").arg(text_at(pass, "pass"), format_count(number(pass, "ops"))));
    });
    each("notes", [&](const Json& item) {
        if (item.is_string())
            plan.notes.append(to_qstring(item.get<std::string>()));
    });
    each("layers", [&](const Json& layer) {
        if (!layer.is_object())
            return;
        const auto shape = layer.find("shape");
        QStringList extents;
        if (shape != layer.end() && shape->is_array())
            for (const Json& extent : *shape)
                extents.append(QString::number(protocol::to_double(extent), 'f', 0));
        LayerRow row{text_at(layer, "layer"),
                     text_at(layer, "kind"),
                     extents.isEmpty() ? text_at(layer, "shape").replace(QLatin1Char('x'), QStringLiteral("×"))
                                       : extents.join(QStringLiteral("×")),
                     text_at(layer, "kernel"),
                     number(layer, "parameters"),
                     number(layer, "flops")};
        row.memory = number(layer, "memory", LayerRow::unknown);
        plan.layers.push_back(std::move(row));
    });
    if (!protocol::flag_at(fields, "continued")) { // another plan: times of the old one say nothing of it
        profiled_step_ = 0;
        profiled_milliseconds_ = 0;
    }
    layer_places_.clear();
    for (std::size_t i = 0; i < plan.layers.size(); ++i)
        layer_places_[plan.layers[i].layer] = i;
    ++layers_version_;
    clock.set_steps_per_epoch(plan.steps_per_epoch);
    const bool first = !plan_;
    plan_ = std::move(plan);
    if (first || !protocol::flag_at(fields, "continued"))
        note(event, tr("%1 parameters, batch %2, %3 epochs of %4 steps on %5 (%6)")
                        .arg(format_count(plan_->parameters))
                        .arg(plan_->batch)
                        .arg(plan_->epochs)
                        .arg(format_count(plan_->steps_per_epoch),
                             plan_->device.isEmpty() ? plan_->backend : plan_->device, plan_->precision));
    for (const QString& text : plan_->notes)
        note(event, text, Role::secondary);
}

void RunModel::take_evaluation(const RunEvent& event) {
    const auto value = static_cast<float>(number(event.fields, "loss", std::nan("")));
    const auto share = static_cast<float>(number(event.fields, "accuracy", std::nan("")));
    const std::int64_t at = std::max<std::int64_t>(event.step, 0);
    if (text_at(event.fields, "set") != u"test") {
        validation_loss.append(at, value);
        validation_accuracy.append(at, share);
        if (std::isfinite(value) && (!best_loss_ || value < *best_loss_))
            best_loss_ = value;
        const double best = number(event.fields, "best_accuracy", std::nan(""));
        if (std::isfinite(best)) {
            best_accuracy_ = best;
            best_epoch_ = static_cast<std::int64_t>(number(event.fields, "best_epoch"));
        } else if (std::isfinite(share) && (!best_accuracy_ || share > *best_accuracy_)) {
            best_accuracy_ = share;
            best_epoch_ = static_cast<std::int64_t>(event.epoch);
        }
    }
    const bool best = protocol::flag_at(event.fields, "best");
    note(event,
         tr("Epoch %1: %2 loss %3, accuracy %4%5")
             .arg(format_count(event.epoch), text_at(event.fields, "set", tr("validation")), format_loss(value),
                  format_percent(share), best ? tr(" (the best so far)") : QString()),
         best ? Role::good : Role::text);
}

void RunModel::take_checkpoint(const RunEvent& event) {
    checkpoint_ = Checkpoint{event.step, event.time, event.epoch, text_at(event.fields, "file")};
    QStringList kinds;
    if (const auto list = event.fields.find("kinds"); list != event.fields.end() && list->is_array())
        for (const Json& kind : *list)
            if (kind.is_string())
                kinds.append(to_qstring(kind.get<std::string>()));
    story_ = tr("Checkpoint at step %1 · %2")
                 .arg(format_count(static_cast<double>(event.step)), format_bytes(number(event.fields, "bytes")));
    const bool only_last = kinds == QStringList{QStringLiteral("last")};
    if (!only_last) // "last" is written at every epoch: as markers they would hide the curves
        markers_.push_back(
            {static_cast<double>(event.step), Role::series3,
             kinds.contains(QStringLiteral("best"))
                 ? tr("Best so far: checkpoint at step %1").arg(format_count(static_cast<double>(event.step)))
                 : story_});
    note(event, QStringLiteral("%1 (%2)").arg(story_, checkpoint_->file), Role::secondary);
}

void RunModel::take_resources(const RunEvent& event) {
    if (event.samples.empty())
        take_sample(std::max<std::int64_t>(event.step, step_), event.fields);
    else
        take_samples(event);
}

void RunModel::take_layers(const RunEvent& event) {
    const auto list = event.fields.find("layers");
    if (!plan_ || list == event.fields.end() || !list->is_array())
        return;
    if (!protocol::flag_at(event.fields, "continued"))
        profiled_milliseconds_ = 0;
    for (const Json& item : *list) {
        if (!item.is_object())
            continue;
        const auto place = layer_places_.find(text_at(item, "layer"));
        if (place == layer_places_.end())
            continue;
        LayerRow& row = plan_->layers[place->second];
        row.milliseconds = number(item, "ms", LayerRow::unknown);
        row.forward_milliseconds = number(item, "forward_ms", LayerRow::unknown);
        row.gflops = number(item, "gflops", LayerRow::unknown);
        row.gbps = number(item, "gbps", LayerRow::unknown);
        row.memory = number(item, "memory", row.memory);
        row.kernel = text_at(item, "kernel", row.kernel);
        if (std::isfinite(row.milliseconds))
            profiled_milliseconds_ += row.milliseconds;
    }
    if (event.step > 0)
        profiled_step_ = event.step;
    ++layers_version_;
}

void RunModel::take_fallback(const RunEvent& event) {
    changes_.push_back({text_at(event.fields, "rung"), text_at(event.fields, "from"), text_at(event.fields, "to"),
                        text_at(event.fields, "reason"), step_});
    const Fallback& change = changes_.back();
    story_ = tr("%1: %2 → %3: %4").arg(toggle_title(change.rung), change.from, change.to, change.reason);
    fallbacks_.append(story_);
    markers_.push_back({static_cast<double>(step_), Role::attention, story_});
    note(event, tr("Fallback: %1").arg(story_), Role::attention);
    if (const auto undo = event.fields.find("undo"); undo != event.fields.end() && undo->is_object()) {
        Json all = *undo; // of two changes of one setting the earlier one's way back counts
        all.merge_patch(undo_);
        undo_ = std::move(all);
    }
}

void RunModel::take_samples(const RunEvent& event) {
    const auto& steps = event.samples.at("step");
    for (std::size_t row = 0; row < steps.size(); ++row) {
        Json fields = Json::object();
        for (const auto& [name, values] : event.samples)
            put_at_path(fields, to_qstring(name), protocol::number(values[row]));
        take_sample(static_cast<std::int64_t>(steps[row]), fields);
    }
}

void RunModel::take_sample(std::int64_t at, const Json& fields) {
    const Json& bytes = object_at(fields, "memory");
    if (!bytes.empty()) {
        double sum = 0;
        for (std::size_t i = 0; i < memory_parts; ++i) {
            sum += number(bytes, memory_names[i]);
            memory[i].append(at, static_cast<float>(sum));
        }
    }
    if (bytes.contains("process"))
        process.append(at, static_cast<float>(number(bytes, "process")));
    if (fields.contains("utilisation"))
        utilisation.append(at, static_cast<float>(number(fields, "utilisation", std::nan(""))));
    if (fields.contains("gflops"))
        gflops.append(at, static_cast<float>(number(fields, "gflops", std::nan(""))));
    if (fields.contains("images_per_second"))
        images_per_second_ = number(fields, "images_per_second");
    resources_ = fields;
}

void RunModel::take_back(std::int64_t step) {
    loss.truncate_after(step);
    accuracy.truncate_after(step);
    validation_loss.truncate_after(step);
    validation_accuracy.truncate_after(step);
    for (MetricSeries& series : memory)
        series.truncate_after(step);
    process.truncate_after(step);
    gflops.truncate_after(step);
    utilisation.truncate_after(step);
    clock.truncate_after(static_cast<double>(step));
    std::erase_if(markers_, [&](const PlotMarker& marker) { return marker.position > static_cast<double>(step); });
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
    case RunState::preparing:
        return tr("Preparing");
    case RunState::running:
        return epochs.isEmpty() ? tr("Running") : tr("Running · %1").arg(epochs);
    case RunState::paused:
        return tr("Paused · epoch %1").arg(current_epoch());
    case RunState::finished:
        return best_accuracy_
                   ? QStringLiteral("%1 · %2").arg(format_percent(*best_accuracy_), format_about(seconds_trained()))
                   : tr("Finished");
    case RunState::stopped:
    case RunState::failed:
    case RunState::interrupted:
        return tr("%1 · step %2").arg(state_title(state_), format_count(static_cast<double>(step_)));
    }
    return {};
}

} // namespace espalier
