// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/softmax.h"
#include "graph/ops/arguments.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace espalier::reference {
namespace {

/// Share of class k in the smoothed label of a row: (1 - smoothing) [k is the label] + smoothing / classes.
double target(std::int64_t k, std::int64_t label, double smoothing, std::int64_t classes) {
    return (k == label ? 1 - smoothing : 0.0) + smoothing / static_cast<double>(classes);
}

/// Weights of the classes, 1 where none are given.
struct ClassWeights {
    const double* values; ///< [classes] or null

    double operator[](std::int64_t k) const { return values ? values[k] : 1.0; }
    /// By what the sum over the batch is divided: its mean weight times its size.
    [[nodiscard]] double total(const std::int32_t* labels, std::int64_t rows) const {
        double sum = 0;
        for (std::int64_t n = 0; n < rows; ++n)
            sum += (*this)[labels[n]];
        return sum;
    }
};

/// -sum over the batch of sum_k w_k target_k log p_k, divided by the sum of the labels' weights.
Compute cross_entropy(const Graph& graph, const Op& op) {
    const AxisView view(input_shape(graph, op, 0), 1);
    const auto smoothing = op.attributes.real("label_smoothing");
    const bool weighted = input_at(op, 2) != no_tensor;
    return [=](const Arrays& arrays) {
        const auto* logits = arrays.in(0);
        const auto* labels = arrays.in<std::int32_t>(1);
        const ClassWeights weights{weighted ? arrays.in(2) : nullptr};
        std::vector<double> probabilities(static_cast<std::size_t>(view.outer * view.length));
        softmax_over(view, logits, probabilities.data());
        double loss = 0;
        for (std::int64_t n = 0; n < view.outer; ++n) {
            const auto* row = logits + view.at(n, 0, 0);
            const auto largest = *std::max_element(row, row + view.length);
            double sum = 0;
            for (std::int64_t k = 0; k < view.length; ++k)
                sum += std::exp(row[k] - largest);
            for (std::int64_t k = 0; k < view.length; ++k)
                loss -= weights[k] * target(k, labels[n], smoothing, view.length) * (row[k] - largest - std::log(sum));
        }
        arrays.out(0)[0] = loss / weights.total(labels, view.outer);
        if (auto* out = arrays.out(1))
            std::ranges::copy(probabilities, out);
    };
}

Compute cross_entropy_gradient(const Graph& graph, const Op& op) {
    const AxisView view(input_shape(graph, op, 0), 1);
    const auto smoothing = op.attributes.real("label_smoothing");
    const bool weighted = input_at(op, 3) != no_tensor;
    return [=](const Arrays& arrays) {
        const auto* labels = arrays.in<std::int32_t>(1);
        const ClassWeights weights{weighted ? arrays.in(3) : nullptr};
        const auto factor = arrays.in(2)[0] / weights.total(labels, view.outer);
        for (std::int64_t n = 0; n < view.outer; ++n) {
            double whole = 0; // of the weighted targets
            for (std::int64_t k = 0; k < view.length; ++k)
                whole += weights[k] * target(k, labels[n], smoothing, view.length);
            for (std::int64_t k = 0; k < view.length; ++k) {
                const auto at = view.at(n, k, 0);
                arrays.out(0)[at] =
                    factor * (arrays.in(0)[at] * whole - weights[k] * target(k, labels[n], smoothing, view.length));
            }
        }
    };
}

/// Generalised Dice of Sudre et al., "Generalised Dice overlap as a deep learning loss function" (2017):
/// loss = 1 - (2 I + eps) / (U + eps), I = sum_k w_k sum p t, U = sum_k w_k sum (p + t), w_k = 1 / (count_k^2 + eps).
struct Dice {
    AxisView view; ///< logits, axis 1 the classes
    double eps;
    std::int64_t first_class;

    Dice(const Graph& graph, const Op& op)
        : view(input_shape(graph, op, 0), 1), eps(op.attributes.real("eps", 1e-5)),
          first_class(op.attributes.flag("ignore_background", true) ? 1 : 0) {}

    struct Sums {
        std::vector<double> weights;
        double numerator, denominator;
    };

    /// Calls visit(place in logits, k, whether the label there is k) for every class that counts.
    template <class Visit>
    void for_each(const std::int32_t* labels, Visit visit) const {
        for (std::int64_t n = 0; n < view.outer; ++n)
            for (std::int64_t k = first_class; k < view.length; ++k)
                for (std::int64_t i = 0; i < view.inner; ++i)
                    visit(view.at(n, k, i), static_cast<std::size_t>(k), labels[n * view.inner + i] == k);
    }

    [[nodiscard]] Sums sums(const std::vector<double>& probabilities, const std::int32_t* labels) const {
        Sums sums{std::vector<double>(static_cast<std::size_t>(view.length)), eps, eps};
        for_each(labels, [&](auto, auto k, bool is_label) { sums.weights[k] += is_label; });
        for (auto& weight : sums.weights)
            weight = 1 / (weight * weight + eps);
        for_each(labels, [&](auto at, auto k, bool is_label) {
            const auto p = probabilities[static_cast<std::size_t>(at)];
            sums.numerator += 2 * sums.weights[k] * (is_label ? p : 0.0);
            sums.denominator += sums.weights[k] * (p + is_label);
        });
        return sums;
    }

    [[nodiscard]] std::vector<double> probabilities(const double* logits) const {
        std::vector<double> values(static_cast<std::size_t>(view.outer * view.length * view.inner));
        softmax_over(view, logits, values.data());
        return values;
    }
};

Compute generalized_dice(const Graph& graph, const Op& op) {
    return [dice = Dice(graph, op)](const Arrays& arrays) {
        const auto sums = dice.sums(dice.probabilities(arrays.in(0)), arrays.in<std::int32_t>(1));
        arrays.out(0)[0] = 1 - sums.numerator / sums.denominator;
    };
}

Compute generalized_dice_gradient(const Graph& graph, const Op& op) {
    return [dice = Dice(graph, op)](const Arrays& arrays) {
        const auto* labels = arrays.in<std::int32_t>(1);
        const auto probabilities = dice.probabilities(arrays.in(0));
        const auto sums = dice.sums(probabilities, labels);
        std::vector<double> gradient(probabilities.size()); // of the probabilities
        dice.for_each(labels, [&](auto at, auto k, bool is_label) {
            const auto slope =
                sums.numerator / (sums.denominator * sums.denominator) - (is_label ? 2 / sums.denominator : 0.0);
            gradient[static_cast<std::size_t>(at)] = arrays.in(2)[0] * sums.weights[k] * slope;
        });
        softmax_gradient_over(dice.view, probabilities.data(), gradient.data(), arrays.out(0));
    };
}

Compute correct_count(const Graph& graph, const Op& op) {
    const AxisView view(input_shape(graph, op, 0), 1);
    return [view](const Arrays& arrays) {
        double correct = 0;
        for (std::int64_t n = 0; n < view.outer; ++n) {
            const auto* row = arrays.in(0) + view.at(n, 0, 0);
            correct += std::max_element(row, row + view.length) - row == arrays.in<std::int32_t>(1)[n];
        }
        arrays.out(0)[0] = correct;
    };
}

} // namespace

void add_loss(Kinds& kinds) {
    kinds["cross_entropy"] = cross_entropy;
    kinds["cross_entropy_gradient"] = cross_entropy_gradient;
    kinds["generalized_dice"] = generalized_dice;
    kinds["generalized_dice_gradient"] = generalized_dice_gradient;
    kinds["correct_count"] = correct_count;
}

} // namespace espalier::reference
