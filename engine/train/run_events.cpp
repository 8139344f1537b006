// SPDX-License-Identifier: Apache-2.0
#include "train/run_events.h"

#include "train/layer_report.h"

namespace espalier {

Json toggles_in_force(const RunSetup& setup) {
    const auto toggles = setup.config.toggles.effective();
    return {{"precision", setup.network->precision()},
            {"fused", toggles.fused},
            {"reference_separable", toggles.reference_separable},
            {"cuda_graphs", toggles.cuda_graphs && !setup.backend->in_host_memory()},
            {"recompute", toggles.recompute},
            {"deterministic", toggles.deterministic},
            {"safe_mode", toggles.safe_mode}};
}

Json plan_event(RunSetup& setup) {
    auto& network = *setup.network;
    const auto& config = setup.config;
    const auto& step = network.training_step(config.batch);
    const auto& plan = network.plan_of(step);
    const auto rows = layer_table(step.compiled.graph, plan.ops());
    std::int64_t parameters = 0;
    for (const auto& row : rows)
        parameters += row.parameters;

    Json event = make_event("plan");
    event["parameters"] = parameters;
    event["flops"] = plan.model_flops() * static_cast<double>(config.accumulation);
    event["memory"] = to_json(network.memory());
    if (setup.memory_limit > 0)
        event["limit"] = setup.memory_limit;
    event["layers"] = plan_rows(rows);
    event["steps_per_epoch"] = setup.steps_per_epoch;
    event["epochs"] = config.epochs;
    event["batch"] = config.batch;
    event["backend"] = setup.backend->name();
    const auto device = setup.backend->device();
    event["device"] = device.name.empty() ? std::string(setup.backend->name()) : device.name;
    event["precision"] = network.precision();
    event["toggles"] = toggles_in_force(setup);
    if (device.memory > 0)
        event["device_memory"] = device.memory;
    if (const double peak = device.peak(network.precision()); peak > 0)
        event["peak_gflops"] = peak / 1e9;
    event["passes"] = Json::array();
    for (const auto& pass : step.compiled.pass_order)
        event["passes"].push_back({{"pass", pass}, {"ops", step.compiled.ops_after.at(pass)}});
    event["notes"] = setup.notes;
    return event;
}

Json fallback_event(const FallbackNote& note) {
    Json event = make_event("fallback");
    event.update(note.to_json());
    return event;
}

Json epoch_event(const RunState& state) {
    Json event = make_event("epoch");
    event["epoch"] = state.epoch;
    event["step"] = state.step;
    event["loss"] = number_or_text(state.training.mean_loss());
    event["accuracy"] = state.training.accuracy();
    event["seconds"] = state.epoch_seconds;
    event["images_per_second"] = state.epoch_seconds > 0 ? state.training.images / state.epoch_seconds : 0.0;
    return event;
}

Json evaluation_event(const RunState& state, const std::string& set, const Totals& totals, bool best) {
    Json event = make_event("evaluation");
    event["epoch"] = state.epoch;
    event["step"] = state.step;
    event["set"] = set;
    event["loss"] = number_or_text(totals.mean_loss());
    event["accuracy"] = totals.accuracy();
    event["best"] = best;
    if (state.best_epoch > 0) { // none while every loss of the validation part was NaN, or there is no such part
        event["best_accuracy"] = state.best_accuracy;
        event["best_epoch"] = state.best_epoch;
    }
    event["images"] = static_cast<std::int64_t>(totals.images);
    return event;
}

Json error_event(const std::string& text, int code) {
    Json event = make_event("error");
    event["text"] = text;
    event["code"] = code;
    return event;
}

} // namespace espalier
