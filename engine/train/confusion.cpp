// SPDX-License-Identifier: Apache-2.0
#include "train/confusion.h"

#include <limits>
#include <numeric>

namespace espalier {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole)
                     : std::numeric_limits<double>::quiet_NaN();
}

} // namespace

void ConfusionMatrix::add(std::size_t truth, std::size_t predicted) {
    ++cells_[{truth, predicted}];
    ++truths_[truth];
    ++predictions_[predicted];
    if (truth == predicted)
        ++correct_[truth];
}

ClassScore ConfusionMatrix::score(std::size_t of_class) const {
    ClassScore score{.images = truths_[of_class], .predicted = predictions_[of_class], .correct = correct_[of_class]};
    score.precision = ratio(score.correct, score.predicted);
    score.recall = ratio(score.correct, score.images);
    score.f1 = ratio(2 * score.correct, score.predicted + score.images);
    return score;
}

double ConfusionMatrix::accuracy() const {
    const auto images = std::accumulate(truths_.begin(), truths_.end(), std::int64_t{0});
    const auto correct = std::accumulate(correct_.begin(), correct_.end(), std::int64_t{0});
    return images > 0 ? static_cast<double>(correct) / static_cast<double>(images) : 0;
}

} // namespace espalier
