// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
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

/// Counts of images by their class and the one that was predicted. Cells without images take no memory: of very many
/// classes most have none.
class ConfusionMatrix {
public:
    explicit ConfusionMatrix(std::size_t classes) : truths_(classes), predictions_(classes), correct_(classes) {}

    /// Both are below classes().
    void add(std::size_t truth, std::size_t predicted);

    using Cell = std::pair<std::size_t, std::size_t>; ///< truth, predicted
    [[nodiscard]] std::size_t classes() const { return truths_.size(); }
    /// Images of each cell that has any, row by row.
    [[nodiscard]] const std::map<Cell, std::int64_t>& cells() const { return cells_; }
    [[nodiscard]] ClassScore score(std::size_t of_class) const;
    /// Share of images whose class was found; 0 without images.
    [[nodiscard]] double accuracy() const;

private:
    std::map<Cell, std::int64_t> cells_;
    std::vector<std::int64_t> truths_, predictions_, correct_; ///< images of each class
};

} // namespace espalier
