// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <cstdint>
#include <limits>

namespace espalier {

/// Sums over images, from which means are made. Doubles, so that a resumed epoch ends with the same bits.
struct Totals {
    double loss = 0;    ///< sum of losses
    double correct = 0; ///< images whose class was found
    double images = 0;

    [[nodiscard]] double mean_loss() const { return images > 0 ? loss / images : 0; }
    [[nodiscard]] double accuracy() const { return images > 0 ? correct / images : 0; }
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
    std::int64_t best_epoch = 0;
    std::int64_t evaluations_since_best = 0;
    std::int64_t bad_steps = 0; ///< steps in a row with a loss that is not finite
    double seconds = 0;         ///< time spent in training and evaluation

    /// Whether an evaluation is a new best: its loss is finite and its accuracy above every one before. NaN never is.
    [[nodiscard]] bool is_better(double accuracy, double loss) const;

    [[nodiscard]] Json to_json() const;
    /// Throws CheckpointError naming what is missing or of another type.
    static RunState from_json(const Json& json);
};

} // namespace espalier
