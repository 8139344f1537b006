// SPDX-License-Identifier: Apache-2.0
#include "train/checkpointing.h"

#include "base/error.h"

#include <utility>

namespace espalier {

Checkpointing::Checkpointing(CheckpointFolder& folder, const CheckpointConfig& config, EventSink& events)
    : folder_(folder), config_(config), events_(events) {}

bool Checkpointing::due(const RunState& state) const {
    if (state.bad_steps > 0 || state.step == last_step_)
        return false;
    if (config_.every_steps > 0 && state.step % config_.every_steps == 0)
        return true;
    const std::chrono::duration<double> passed = Clock::now() - last_time_;
    return config_.every_minutes > 0 && passed.count() >= 60 * config_.every_minutes;
}

CheckpointInfo Checkpointing::take(const RunSetup& setup, RunState state, ParameterStore& store) {
    setup.network->save(store);
    state.loss_scale = setup.network->loss_scale();
    state.backend = setup.backend->name();
    state.precision = setup.network->precision();
    state.precision_asked = setup.precision_asked;
    return {.network = setup.config.network,
            .step = state.step,
            .run_state = state.to_json(),
            .class_names = setup.dataset().info().classes,
            .mean = setup.statistics.mean,
            .deviation = setup.statistics.deviation,
            .precision = state.precision};
}

bool Checkpointing::try_to_write(const CheckpointInfo& info, const ParameterStore& store, bool best,
                                 const Refusal& refusal) {
    try {
        write(info, store, best);
        return true;
    } catch (const Error& error) {
        last_time_ = Clock::now();
        if (!std::exchange(refused_, true) || refusal.always_told)
            warn(events_, std::string(refusal.consequence) + ' ' + error.what());
        return false;
    }
}

void Checkpointing::write(const CheckpointInfo& info, const ParameterStore& store, bool best) {
    const auto saved = folder_.save(info, store, best, config_.keep);
    last_time_ = Clock::now();
    last_step_ = info.step;

    Json event = make_event("checkpoint");
    event["file"] = "checkpoints/" + saved.file.filename().string();
    event["step"] = info.step;
    event["epoch"] = info.run_state.at("epoch");
    event["kinds"] = saved.kinds;
    event["bytes"] = saved.bytes;
    event["seconds"] = saved.seconds;
    events_.send(std::move(event));
    for (const auto& text : saved.warnings)
        warn(events_, text);
    if (std::exchange(refused_, false))
        warn(events_, "Checkpoints can be written again.");
}

} // namespace espalier
