// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier {

/// How well one class is told from the others, one against the rest. With TP images of the class that were found, FP of
/// other classes taken for it, and FN of it taken for others (C. J. van Rijsbergen, Information Retrieval, 1979,
/// chapter 7):
struct ClassScore {
    std::int64_t images = 0;    ///< TP + FN
    std::int64_t predicted = 0; ///< TP + FP
    std::int64_t correct = 0;   ///< TP
    double precision = 0;       ///< TP / (TP + FP); NaN where nothing was taken for the class
    double recall = 0;          ///< TP / (TP + FN); NaN where there is no image of the class
    double f1 = 0;              ///< 2 TP / (2 TP + FP + FN), the harmonic mean of both; NaN where there is neither
};

/// Counts of images by their class and the one that was predicted.
class ConfusionMatrix {
public:
    explicit ConfusionMatrix(std::size_t classes) : classes_(classes), counts_(classes * classes, 0) {}

    /// Both are below classes().
    void add(std::size_t truth, std::size_t predicted) { ++counts_[truth * classes_ + predicted]; }

    [[nodiscard]] std::size_t classes() const { return classes_; }
    [[nodiscard]] std::int64_t count(std::size_t truth, std::size_t predicted) const {
        return counts_[truth * classes_ + predicted];
    }
    [[nodiscard]] ClassScore score(std::size_t of_class) const;
    /// Share of images whose class was found; 0 without images.
    [[nodiscard]] double accuracy() const;

private:
    std::size_t classes_;
    std::vector<std::int64_t> counts_; ///< rows of truths
};

} // namespace espalier
