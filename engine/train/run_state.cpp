// SPDX-License-Identifier: Apache-2.0
#include "train/run_state.h"

#include "base/error.h"
#include "train/events.h"

#include <cmath>

namespace espalier {

bool RunState::is_better(double accuracy, double loss) const {
    return std::isfinite(accuracy) && std::isfinite(loss) && accuracy > best_accuracy;
}

Json RunState::to_json() const {
    return {{"step", step},
            {"epoch", epoch},
            {"epoch_step", epoch_step},
            {"batch", batch},
            {"training_loss", number_or_text(training.loss)},
            {"training_correct", training.correct},
            {"training_images", training.images},
            {"best_accuracy", best_accuracy},
            {"best_epoch", best_epoch},
            {"evaluations_since_best", evaluations_since_best},
            {"bad_steps", bad_steps},
            {"seconds", seconds}};
}

RunState RunState::from_json(const Json& json) {
    try {
        RunState state;
        state.step = json.at("step").get<std::int64_t>();
        state.epoch = json.at("epoch").get<std::int64_t>();
        state.epoch_step = json.at("epoch_step").get<std::int64_t>();
        state.batch = json.at("batch").get<std::int64_t>();
        state.training.loss = number_from(json.at("training_loss"));
        state.training.correct = json.at("training_correct").get<double>();
        state.training.images = json.at("training_images").get<double>();
        state.best_accuracy = json.at("best_accuracy").get<double>();
        state.best_epoch = json.at("best_epoch").get<std::int64_t>();
        state.evaluations_since_best = json.at("evaluations_since_best").get<std::int64_t>();
        state.bad_steps = json.at("bad_steps").get<std::int64_t>();
        state.seconds = json.at("seconds").get<double>();
        return state;
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw CheckpointError(std::string("The state of the run in this checkpoint cannot be read (") + error.what() +
                              "). Resume from an earlier checkpoint.");
    }
}

} // namespace espalier
