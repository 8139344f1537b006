// SPDX-License-Identifier: GPL-3.0-or-later
// What each kind of event tells a RunModel, but for those that change its state.
#include "engine_words.h"
#include "format.h"
#include "json_convert.h"
#include "run_model.h"
#include "toggle_words.h"
#include "worker/protocol.h"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

const Json& object_at(const Json& fields, const char* key) {
    static const Json nothing = Json::object();
    const auto field = fields.find(key);
    return field != fields.end() && field->is_object() ? *field : nothing;
}

constexpr std::array<const char*, memory_parts> memory_names{"weights", "optimizer", "activations", "workspace",
                                                             "data"};

} // namespace

void RunModel::take_plan(const RunEvent& event) {
    const Json& fields = event.fields;
    Plan plan;
    if (protocol::flag_at(fields, "continued") && plan_)
        plan = *plan_; // a long plan comes in several events, which share out its layers
    plan.parameters = protocol::number_at(fields, "parameters", plan.parameters);
    plan.flops = protocol::number_at(fields, "flops", plan.flops);
    plan.steps_per_epoch = protocol::number_at(fields, "steps_per_epoch", plan.steps_per_epoch);
    plan.epochs = static_cast<std::int64_t>(protocol::number_at(fields, "epochs", static_cast<double>(plan.epochs)));
    plan.batch = static_cast<std::int64_t>(protocol::number_at(fields, "batch", static_cast<double>(plan.batch)));
    plan.backend = text_at(fields, "backend", plan.backend);
    plan.device = text_at(fields, "device", plan.device);
    plan.precision = text_at(fields, "precision", plan.precision);
    const Json& bytes = object_at(fields, "memory");
    for (std::size_t i = 0; i < memory_parts; ++i)
        plan.memory[i] = protocol::number_at(bytes, memory_names[i], plan.memory[i]);
    plan.memory_total = protocol::number_at(bytes, "total", plan.memory_total);
    plan.limit = protocol::number_at(fields, "limit", plan.limit);
    plan.device_memory = protocol::number_at(fields, "device_memory", plan.device_memory);
    plan.peak_gflops = protocol::number_at(fields, "peak_gflops", plan.peak_gflops);
    if (const Json& toggles = object_at(fields, "toggles"); !toggles.empty())
        plan.toggles = toggles;
    const auto each = [&](const char* key, auto&& take) {
        if (const auto list = fields.find(key); list != fields.end() && list->is_array())
            for (const Json& item : *list)
                take(item);
    };
    each("passes", [&](const Json& pass) {
        if (pass.is_object())
            plan.passes.append(
                QStringLiteral("%1 → %2").arg(text_at(pass, "pass"), format_count(protocol::number_at(pass, "ops"))));
    });
    each("notes", [&](const Json& item) {
        if (item.is_string())
            plan.notes.append(engine_words(to_qstring(item.get<std::string>())));
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
                     protocol::number_at(layer, "parameters"),
                     protocol::number_at(layer, "flops")};
        row.memory = protocol::number_at(layer, "memory", LayerRow::unknown);
        plan.layers.push_back(std::move(row));
    });
    each("nodes", [&](const Json& item) {
        NetworkNode node{text_at(item, "layer"),
                         text_at(item, "kind"),
                         text_at(item, "shape"),
                         {},
                         protocol::number_at(item, "parameters"),
                         protocol::number_at(item, "flops")};
        if (const auto inputs = item.find("inputs"); inputs != item.end() && inputs->is_array())
            for (const Json& input : *inputs) // of earlier nodes alone: a drawing needs an order
                if (const auto place = protocol::to_whole(input);
                    place && *place >= 0 && *place < static_cast<std::int64_t>(plan.nodes.size()))
                    node.inputs.push_back(static_cast<std::int32_t>(*place));
        plan.nodes.push_back(std::move(node));
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
    if (std::exchange(resumed_, false))
        forget_undone();
    if (first || !protocol::flag_at(fields, "continued"))
        note(event, tr("%1 parameters, batch %2, epochs: %3, steps of each: %4, on %5 (%6)")
                        .arg(format_count(plan_->parameters))
                        .arg(plan_->batch)
                        .arg(plan_->epochs)
                        .arg(format_count(plan_->steps_per_epoch),
                             plan_->device.isEmpty() ? plan_->backend : plan_->device, plan_->precision));
    for (const QString& text : plan_->notes)
        note(event, text, Role::secondary);
}

bool RunModel::in_force(const Fallback& change) const {
    if (change.rung == u"batch")
        return change.to.section(QLatin1Char(','), 0, 0) == QString::number(plan_->batch);
    if (change.rung == u"cpu")
        return plan_->backend == change.to;
    const auto value = plan_->toggles.find(change.rung.toStdString());
    if (value == plan_->toggles.end())
        return true;
    return change.to == (value->is_boolean() ? QString::fromLatin1(value->get<bool>() ? "on" : "off")
                                             : text_at(plan_->toggles, value.key().c_str()));
}

/// What a person has taken back with a resume.
void RunModel::forget_undone() {
    std::erase_if(changes_, [this](const Fallback& change) { return !in_force(change); });
    for (PlotMarker& marker : markers_)
        if (std::ranges::none_of(changes_, [&](const Fallback& change) {
                return marker.action == QStringLiteral("take_back:") + change.rung;
            }))
            marker.action.clear();
    ++markers_version_;
}

void RunModel::take_evaluation(const RunEvent& event) {
    const auto value = static_cast<float>(protocol::number_at(event.fields, "loss", std::nan("")));
    const auto share = static_cast<float>(protocol::number_at(event.fields, "accuracy", std::nan("")));
    const std::int64_t at = std::max<std::int64_t>(event.step, 0);
    if (text_at(event.fields, "set") != u"test") {
        validation_loss.append(at, value);
        validation_accuracy.append(at, share);
        Best now = best();
        now.step = at;
        if (std::isfinite(value) && (!now.loss || value < *now.loss))
            now.loss = value;
        if (const auto best = protocol::best_at(event.fields)) {
            now.accuracy = best->accuracy;
            now.epoch = best->epoch;
        }
        bests_.push_back(now);
    }
    const bool best = protocol::flag_at(event.fields, "best");
    const QString sentence = text_at(event.fields, "set") == u"test" ? tr("Epoch %1: test loss %2, accuracy %3")
                             : best ? tr("Epoch %1: validation loss %2, accuracy %3 (the best so far)")
                                    : tr("Epoch %1: validation loss %2, accuracy %3");
    note(event, sentence.arg(format_count(event.epoch), format_loss(value), format_percent(share)),
         best ? Role::good : Role::text);
}

void RunModel::take_checkpoint(const RunEvent& event) {
    checkpoint_ = Checkpoint{event.step, event.time, event.epoch, text_at(event.fields, "file")};
    checkpoints_.push_back(*checkpoint_);
    QStringList kinds;
    if (const auto list = event.fields.find("kinds"); list != event.fields.end() && list->is_array())
        for (const Json& kind : *list)
            if (kind.is_string())
                kinds.append(to_qstring(kind.get<std::string>()));
    story_ = tr("Checkpoint at step %1 · %2")
                 .arg(format_count(static_cast<double>(event.step)),
                      format_bytes(protocol::number_at(event.fields, "bytes")));
    const bool only_last = kinds == QStringList{QStringLiteral("last")};
    if (!only_last) // "last" is written at every epoch: as markers they would hide the curves
        mark({static_cast<double>(event.step), Role::series3,
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
        row.milliseconds = protocol::number_at(item, "ms", LayerRow::unknown);
        row.forward_milliseconds = protocol::number_at(item, "forward_ms", LayerRow::unknown);
        row.gflops = protocol::number_at(item, "gflops", LayerRow::unknown);
        row.gbps = protocol::number_at(item, "gbps", LayerRow::unknown);
        row.memory = protocol::number_at(item, "memory", row.memory);
        row.kernel = text_at(item, "kernel", row.kernel);
        if (std::isfinite(row.milliseconds))
            profiled_milliseconds_ += row.milliseconds;
    }
    if (event.step > 0)
        profiled_step_ = event.step;
    ++layers_version_;
}

void RunModel::take_fallback(const RunEvent& event) {
    std::erase_if(changes_, [&](const Fallback& told) { // by an earlier worker
        return told.rung == text_at(event.fields, "rung") && told.from == text_at(event.fields, "from") &&
               told.to == text_at(event.fields, "to");
    });
    changes_.push_back({text_at(event.fields, "rung"),
                        text_at(event.fields, "from"),
                        text_at(event.fields, "to"),
                        engine_words(text_at(event.fields, "reason")),
                        step_,
                        object_at(event.fields, "undo"),
                        {}});
    Fallback& change = changes_.back();
    story_ = tr("%1: %2 → %3: %4")
                 .arg(toggle_title(change.rung), engine_words(change.from), engine_words(change.to), change.reason);
    change.words = story_;
    Json all = change.undo; // of two changes of one setting the earlier one's way back counts
    all.merge_patch(undo_);
    undo_ = std::move(all);
    mark({static_cast<double>(step_), Role::attention, story_,
          change.undo.empty() ? QString() : QStringLiteral("take_back:") + change.rung});
    note(event, tr("Fallback: %1").arg(story_), Role::attention);
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
            sum += protocol::number_at(bytes, memory_names[i]);
            memory[i].append(at, static_cast<float>(sum));
        }
    }
    if (bytes.contains("process"))
        process.append(at, static_cast<float>(protocol::number_at(bytes, "process")));
    if (fields.contains("utilisation"))
        utilisation.append(at, static_cast<float>(protocol::number_at(fields, "utilisation", std::nan(""))));
    if (fields.contains("gflops"))
        gflops.append(at, static_cast<float>(protocol::number_at(fields, "gflops", std::nan(""))));
    if (fields.contains("images_per_second")) {
        images_per_second_ = protocol::number_at(fields, "images_per_second");
        speed.append(at, static_cast<float>(images_per_second_));
    }
    resources_ = fields;
}

} // namespace espalier
