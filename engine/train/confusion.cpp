// SPDX-License-Identifier: Apache-2.0
#include "train/confusion.h"

#include <limits>

namespace espalier {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole)
                     : std::numeric_limits<double>::quiet_NaN();
}

} // namespace

ClassScore ConfusionMatrix::score(std::size_t of_class) const {
    ClassScore score;
    for (std::size_t other = 0; other < classes_; ++other) {
        score.images += count(of_class, other);
        score.predicted += count(other, of_class);
    }
    score.correct = count(of_class, of_class);
    score.precision = ratio(score.correct, score.predicted);
    score.recall = ratio(score.correct, score.images);
    score.f1 = ratio(2 * score.correct, score.predicted + score.images);
    return score;
}

double ConfusionMatrix::accuracy() const {
    std::int64_t images = 0, correct = 0;
    for (std::size_t truth = 0; truth < classes_; ++truth) {
        correct += count(truth, truth);
        for (std::size_t predicted = 0; predicted < classes_; ++predicted)
            images += count(truth, predicted);
    }
    return images > 0 ? static_cast<double>(correct) / static_cast<double>(images) : 0;
}

} // namespace espalier
