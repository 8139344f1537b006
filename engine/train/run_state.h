// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <cstdint>
#include <limits>
#include <string>

namespace espalier {

/// Sums over images, from which means are made. Doubles, so that a resumed epoch ends with the same bits.
struct Totals {
    double loss = 0;    ///< sum of losses
    double correct = 0; ///< images whose class was found
    double images = 0;

    [[nodiscard]] double mean_loss() const { return images > 0 ? loss / images : 0; }
    [[nodiscard]] double accuracy() const { return images > 0 ? correct / images : 0; }
};

/// Of fp16: how the loss is scaled so that small gradients are not lost.
struct LossScale {
    double scale = 65536;
    double good_steps = 0; ///< since it last changed
    friend bool operator==(const LossScale&, const LossScale&) = default;
};

/// Where a run stands: everything besides the network's values that a checkpoint must hold so that the run goes on as
/// if it had never been interrupted. There is no other random state: the order of images and their augmentation are
/// functions of (seed, epoch, place in the epoch), first values of (seed, name).
struct RunState {
    std::int64_t step = 0;       ///< updates done since the beginning
    std::int64_t epoch = 0;      ///< epochs whose evaluation is done
    std::int64_t epoch_step = 0; ///< updates done in the current epoch; all of them: the evaluation is due
    std::int64_t batch = 0;      ///< images an update that epoch_step counts in
    Totals training;             ///< of the current epoch
    double best_accuracy = -1;   ///< of the validation part; -1: none yet
    double best_loss = std::numeric_limits<double>::quiet_NaN(); ///< of the same evaluation; NaN: not known
    std::int64_t best_epoch = 0;
    std::int64_t evaluations_since_best = 0;
    std::int64_t bad_steps = 0;           ///< steps in a row whose loss or gradient is not finite
    LossScale loss_scale;                 ///< when the checkpoint was written
    std::string backend;                  ///< and on what it was trained until then; empty: not known
    std::string precision;                ///< in force there
    std::string precision_asked = "auto"; ///< which the settings asked for there
    double seconds = 0;                   ///< time spent in training and evaluation
    double epoch_seconds = 0;             ///< of it in the current epoch
    bool tested = false;                  ///< the test at the end is done

    void spend(double more) {
        seconds += more;
        epoch_seconds += more;
    }
    /// Takes the place over to updates of another size: no image of the epoch is left out, some may come twice. Returns
    /// what to tell the user; empty if the size is the same.
    [[nodiscard]] std::string change_batch(std::int64_t images_per_step, std::int64_t steps_per_epoch);

    /// Counts an evaluation on the validation part, which belongs to `epoch`. True if it is the best: its loss is
    /// finite and its accuracy above every one before, or as high with a smaller loss and no bad step just before. NaN
    /// never is.
    bool take_evaluation(const Totals& totals);
    void forget_best() {
        best_accuracy = -1;
        best_loss = std::numeric_limits<double>::quiet_NaN();
        best_epoch = evaluations_since_best = 0;
    }

    [[nodiscard]] Json to_json() const;
    /// Throws CheckpointError naming what is missing or of another type.
    static RunState from_json(const Json& json);
};

} // namespace espalier
