// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/lowering/lowering.h"

#include <algorithm>
#include <cmath>

namespace espalier::cpu {

namespace {

// Losses are small next to the network: plain loops in double.

/// Softmax of one row of `count` values that stand `stride` apart; returns log(sum(exp(x))).
double softmax_row(const float* x, std::int64_t count, std::int64_t stride, double* probabilities) {
    double highest = -HUGE_VAL;
    for (std::int64_t i = 0; i < count; ++i) {
        highest = std::max(highest, static_cast<double>(x[i * stride]));
    }
    double sum = 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
        probabilities[i] = std::exp(static_cast<double>(x[i * stride]) - highest);
        sum += probabilities[i];
    }
    for (std::int64_t i = 0; i < count; ++i) {
        probabilities[i] /= sum;
    }
    return highest + std::log(sum);
}

/// What class weights make of a row's loss: the sum over classes of w_k target_k, and each of its terms.
struct WeightedTargets {
    std::int64_t classes;
    double smoothing;
    const float* weights; ///< [classes] or null: all 1

    [[nodiscard]] double weight(std::int64_t k) const {
        return weights != nullptr ? static_cast<double>(weights[k]) : 1.0;
    }
    [[nodiscard]] double at(std::int64_t k, std::int64_t label) const {
        return weight(k) * ((k == label ? 1.0 - smoothing : 0.0) + smoothing / static_cast<double>(classes));
    }
    [[nodiscard]] double sum(std::int64_t label) const {
        if (weights == nullptr) {
            return 1.0;
        }
        double all = 0.0;
        for (std::int64_t k = 0; k < classes; ++k) {
            all += at(k, label);
        }
        return all;
    }
    /// By what the sum over the batch is divided.
    [[nodiscard]] double total(const std::int32_t* labels, std::int64_t rows) const {
        double all = 0.0;
        for (std::int64_t row = 0; row < rows; ++row) {
            all += weight(labels[row]);
        }
        return all;
    }
};

Lowered lower_cross_entropy(const Context& c) {
    Lowered result = c.plain();
    const std::int64_t rows = c.input(0).shape[0];
    const std::int64_t classes = c.input(0).shape[1];
    const double smoothing = c.op.attributes.real("label_smoothing", 0.0);
    result.workspace = static_cast<std::size_t>(classes) * sizeof(double);
    result.kernel = loop_kernel(c, "cross entropy", [rows, classes, smoothing](const Arguments& a) {
        const float* logits = a.in(0);
        const auto* labels = a.in_as<const std::int32_t>(1);
        const WeightedTargets targets{classes, smoothing, a.in(2)};
        auto* p = a.scratch<double>();
        double total = 0.0;
        for (std::int64_t row = 0; row < rows; ++row) {
            const float* x = logits + row * classes;
            const double log_sum = softmax_row(x, classes, 1, p);
            double sum = 0.0;
            for (std::int64_t i = 0; i < classes; ++i) {
                sum += targets.weight(i) * static_cast<double>(x[i]);
                if (a.out(1) != nullptr) {
                    a.out(1)[row * classes + i] = static_cast<float>(p[i]);
                }
            }
            const double at_label = targets.weight(labels[row]) * static_cast<double>(x[labels[row]]);
            total += targets.sum(labels[row]) * log_sum - (1.0 - smoothing) * at_label -
                     smoothing * sum / static_cast<double>(classes);
        }
        *a.out(0) = static_cast<float>(total / targets.total(labels, rows));
    });
    return result;
}

Lowered lower_cross_entropy_gradient(const Context& c) {
    Lowered result = c.plain();
    const std::int64_t rows = c.input(0).shape[0];
    const std::int64_t classes = c.input(0).shape[1];
    const double smoothing = c.op.attributes.real("label_smoothing", 0.0);
    result.kernel = loop_kernel(c, "cross entropy gradient", [rows, classes, smoothing](const Arguments& a) {
        const auto* labels = a.in_as<const std::int32_t>(1);
        const WeightedTargets targets{classes, smoothing, a.in(3)};
        const double factor = static_cast<double>(*a.in(2)) / targets.total(labels, rows);
        for (std::int64_t row = 0; row < rows; ++row) {
            const double whole = targets.sum(labels[row]);
            for (std::int64_t i = 0; i < classes; ++i) {
                const double p = static_cast<double>(a.in(0)[row * classes + i]);
                a.out(0)[row * classes + i] = static_cast<float>(factor * (p * whole - targets.at(i, labels[row])));
            }
        }
    });
    return result;
}

Lowered lower_correct_count(const Context& c) {
    Lowered result = c.plain();
    const std::int64_t rows = c.input(0).shape[0];
    const std::int64_t classes = c.input(0).shape[1];
    result.kernel = loop_kernel(c, "correct count", [rows, classes](const Arguments& a) {
        const auto* labels = a.in_as<const std::int32_t>(1);
        std::int64_t correct = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
            const float* x = a.in(0) + row * classes;
            correct += std::max_element(x, x + classes) - x == labels[row] ? 1 : 0;
        }
        *a.out(0) = static_cast<float>(correct);
    });
    return result;
}

/// Generalized dice: 1 - 2 A / B, A = sum_k w_k sum(p t) + eps / 2, B = sum_k w_k sum(p + t) + eps,
/// w_k = 1 / (count_k^2 + eps).
struct Dice {
    std::int64_t n, classes, pixels;
    double eps;
    std::int64_t first; ///< class that the sums begin with: 1 without the background

    explicit Dice(const Context& c)
        : n(c.input(0).shape[0]), classes(c.input(0).shape[1]), pixels(c.input(0).shape[2] * c.input(0).shape[3]),
          eps(c.op.attributes.real("eps", 1e-5)),
          first(c.op.attributes.flag("ignore_background", true) && classes > 1 ? 1 : 0) {}

    /// Doubles of scratch memory: weights, sums of p t and p + t, one row of probabilities.
    [[nodiscard]] std::size_t workspace() const { return static_cast<std::size_t>(4 * classes) * sizeof(double); }

    struct Sums {
        double overlap = 0.0, total = 0.0;
    };

    [[nodiscard]] Sums run(const float* logits, const std::int32_t* labels, double* scratch) const {
        double* weights = scratch;
        double* overlaps = weights + classes;
        double* totals = overlaps + classes;
        double* p = totals + classes;
        std::fill(scratch, scratch + 3 * classes, 0.0);
        for (std::int64_t i = 0; i < n * pixels; ++i) {
            const float* x = logits + i / pixels * classes * pixels + i % pixels;
            softmax_row(x, classes, pixels, p);
            const std::int32_t label = labels[i];
            weights[label] += 1.0;
            overlaps[label] += p[label];
            for (std::int64_t k = 0; k < classes; ++k) {
                totals[k] += p[k] + (k == label ? 1.0 : 0.0);
            }
        }
        Sums sums{eps / 2, eps};
        for (std::int64_t k = first; k < classes; ++k) {
            weights[k] = 1.0 / (weights[k] * weights[k] + eps);
            sums.overlap += weights[k] * overlaps[k];
            sums.total += weights[k] * totals[k];
        }
        return sums;
    }
};

Lowered lower_dice(const Context& c) {
    Lowered result = c.plain();
    const Dice dice(c);
    result.workspace = dice.workspace();
    result.kernel = loop_kernel(c, "generalized dice", [dice](const Arguments& a) {
        const auto sums = dice.run(a.in(0), a.in_as<const std::int32_t>(1), a.scratch<double>());
        *a.out(0) = static_cast<float>(1.0 - 2.0 * sums.overlap / sums.total);
    });
    return result;
}

Lowered lower_dice_gradient(const Context& c) {
    Lowered result = c.plain();
    const Dice dice(c);
    result.workspace = dice.workspace();
    result.kernel = loop_kernel(c, "generalized dice gradient", [dice](const Arguments& a) {
        const auto* labels = a.in_as<const std::int32_t>(1);
        const auto sums = dice.run(a.in(0), labels, a.scratch<double>());
        const double* weights = a.scratch<double>();
        double* p = a.scratch<double>() + 3 * dice.classes;
        const double gloss = static_cast<double>(*a.in(2));
        // d loss / d p_k = -2 w_k (t B - A) / B^2, then through the softmax.
        for (std::int64_t i = 0; i < dice.n * dice.pixels; ++i) {
            const std::int64_t at = i / dice.pixels * dice.classes * dice.pixels + i % dice.pixels;
            softmax_row(a.in(0) + at, dice.classes, dice.pixels, p);
            const auto by_probability = [&](std::int64_t k) {
                const double target = k == labels[i] ? 1.0 : 0.0;
                return k < dice.first ? 0.0
                                      : -2.0 * gloss * weights[k] * (target * sums.total - sums.overlap) /
                                            (sums.total * sums.total);
            };
            double mean = 0.0;
            for (std::int64_t k = 0; k < dice.classes; ++k) {
                mean += p[k] * by_probability(k);
            }
            for (std::int64_t k = 0; k < dice.classes; ++k) {
                a.out(0)[at + k * dice.pixels] = static_cast<float>(p[k] * (by_probability(k) - mean));
            }
        }
    });
    return result;
}

} // namespace

void add_loss(LoweringTable& table) {
    table["cross_entropy"] = {lower_cross_entropy, {}};
    table["cross_entropy_gradient"] = {lower_cross_entropy_gradient, {}};
    table["correct_count"] = {lower_correct_count, {}};
    table["generalized_dice"] = {lower_dice, {}};
    table["generalized_dice_gradient"] = {lower_dice_gradient, {}};
}

} // namespace espalier::cpu
