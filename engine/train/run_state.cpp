// SPDX-License-Identifier: Apache-2.0
#include "train/run_state.h"

#include "base/counted.h"
#include "base/error.h"
#include "train/events.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace espalier {

bool RunState::take_evaluation(const Totals& totals) {
    const double accuracy = totals.accuracy(), loss = totals.mean_loss();
    const bool tied = accuracy == best_accuracy && bad_steps == 0; // what overflows has learned nothing since
    const bool better = accuracy > best_accuracy || (tied && loss < best_loss);
    if (!std::isfinite(loss) || !better) {
        ++evaluations_since_best;
        return false;
    }
    best_accuracy = accuracy;
    best_loss = loss;
    best_epoch = epoch;
    evaluations_since_best = 0;
    return true;
}

std::string RunState::change_batch(std::int64_t images_per_step, std::int64_t steps_per_epoch) {
    const auto before = std::exchange(batch, images_per_step);
    if (before == 0 || before == images_per_step)
        return {};
    epoch_step = std::min(epoch_step * before / images_per_step, steps_per_epoch);
    return "An update takes " + counted(images_per_step, "image") + " now, and took " + std::to_string(before) +
           " before. The run goes on in epoch " + std::to_string(epoch + 1) + " at update " +
           std::to_string(epoch_step + 1) + " of " + std::to_string(steps_per_epoch) +
           "; it is no longer the run that it would have been.";
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
            {"best_loss", number_or_text(best_loss)},
            {"best_epoch", best_epoch},
            {"evaluations_since_best", evaluations_since_best},
            {"bad_steps", bad_steps},
            {"loss_scale", loss_scale.scale},
            {"loss_scale_good_steps", loss_scale.good_steps},
            {"backend", backend},
            {"precision", precision},
            {"precision_asked", precision_asked},
            {"seconds", seconds},
            {"epoch_seconds", epoch_seconds},
            {"tested", tested}};
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
        state.best_loss = number_from(json.value("best_loss", Json("NaN"))); // older ones do not tell
        state.best_epoch = json.at("best_epoch").get<std::int64_t>();
        state.evaluations_since_best = json.at("evaluations_since_best").get<std::int64_t>();
        state.bad_steps = json.at("bad_steps").get<std::int64_t>();
        state.seconds = json.at("seconds").get<double>();
        const LossScale first;
        state.loss_scale = {json.value("loss_scale", first.scale),
                            json.value("loss_scale_good_steps", first.good_steps)};
        state.backend = json.value("backend", "");
        state.precision = json.value("precision", "");
        state.precision_asked = json.value("precision_asked", state.precision_asked);
        state.epoch_seconds = json.value("epoch_seconds", 0.0);
        state.tested = json.value("tested", false);
        return state;
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw CheckpointError(std::string("The state of the run in this checkpoint cannot be read (") + error.what() +
                              "). Resume from another checkpoint, if there is one (resume --checkpoint).");
    }
}

} // namespace espalier
