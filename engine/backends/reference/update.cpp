// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/family.h"
#include "graph/step_block.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace espalier::reference {
namespace {

Compute record(const Graph& graph, const Op& op) {
    const auto history = output_shape(graph, op, 0);
    return [history](const Arrays& arrays) {
        const auto row = static_cast<std::int64_t>(arrays.in(0)[step_block::history_row]) % history[0];
        for (std::int64_t i = 0; i < history[1]; ++i)
            arrays.out(0)[row * history[1] + i] = arrays.in(static_cast<std::size_t>(1 + i))[0];
    };
}

/// Element counts of every `stride`-th input from `first` on.
std::vector<std::int64_t> counts(const Graph& graph, const Op& op, std::size_t first, std::size_t stride) {
    std::vector<std::int64_t> counts;
    for (auto i = first; i < op.inputs.size(); i += stride)
        counts.push_back(input_shape(graph, op, i).count());
    return counts;
}

Compute accumulate(const Graph& graph, const Op& op) {
    return [counts = counts(graph, op, 1, 2)](const Arrays& arrays) {
        const bool first = arrays.in(0)[step_block::micro_step] == 0;
        for (std::size_t k = 0; k < counts.size(); ++k) {
            const auto *g = arrays.in(1 + 2 * k), *sum = arrays.in(2 + 2 * k);
            for (std::int64_t i = 0; i < counts[k]; ++i)
                arrays.out(k)[i] = first ? g[i] : sum[i] + g[i];
        }
    };
}

/// What a gradient as computed is multiplied by to be the mean over the micro-steps, without the loss scale.
double unscale(const double* step) { return 1 / (step[step_block::loss_scale] * step[step_block::micro_steps]); }

Compute gradient_norm(const Graph& graph, const Op& op) {
    return [counts = counts(graph, op, 1, 1)](const Arrays& arrays) {
        double sum = 0;
        for (std::size_t k = 0; k < counts.size(); ++k)
            for (std::int64_t i = 0; i < counts[k]; ++i)
                sum += arrays.in(1 + k)[i] * arrays.in(1 + k)[i];
        arrays.out(0)[0] = std::sqrt(sum) * unscale(arrays.in(0));
    };
}

/// What sgd and adam have in common: entries of `stride` inputs from the third on.
struct Update {
    std::vector<std::int64_t> counts;
    std::vector<double> weight_decay; ///< of each entry
    double clip_norm;

    Update(const Graph& graph, const Op& op, std::size_t stride)
        : counts(reference::counts(graph, op, 2, stride)),
          weight_decay(counts.size(), op.attributes.real("weight_decay")), clip_norm(op.attributes.real("clip_norm")) {
        for (auto position : op.attributes.integers("no_decay"))
            weight_decay.at(static_cast<std::size_t>(position)) = 0;
    }

    /// Factor of every gradient; nothing if the norm is not finite and so nothing may change.
    [[nodiscard]] std::optional<double> gradient_factor(const double* step, const double* norm) const {
        if (norm && !std::isfinite(norm[0]))
            return std::nullopt;
        const auto clip = norm && clip_norm > 0 ? std::min(1.0, clip_norm / (norm[0] + 1e-6)) : 1.0;
        return unscale(step) * clip;
    }
};

Compute sgd(const Graph& graph, const Op& op) {
    const Update update(graph, op, 3);
    const auto momentum = op.attributes.real("momentum");
    const auto nesterov = op.attributes.flag("nesterov");
    return [=](const Arrays& arrays) {
        const auto* step = arrays.in(0);
        const auto factor = update.gradient_factor(step, arrays.in(1));
        if (!factor)
            return;
        for (std::size_t k = 0; k < update.counts.size(); ++k) {
            const auto* gradient = arrays.in(3 + 3 * k);
            auto *parameter = arrays.out(2 * k), *velocity = arrays.out(2 * k + 1);
            for (std::int64_t i = 0; i < update.counts[k]; ++i) {
                const auto g = gradient[i] * *factor + update.weight_decay[k] * parameter[i];
                velocity[i] = momentum * velocity[i] + g;
                parameter[i] -= step[step_block::learning_rate] * (nesterov ? g + momentum * velocity[i] : velocity[i]);
            }
        }
    };
}

/// Adam of Kingma and Ba (2015); decoupled: AdamW of Loshchilov and Hutter (2019). Steps are counted for each element.
Compute adam(const Graph& graph, const Op& op) {
    const Update update(graph, op, 5);
    const auto beta1 = op.attributes.real("beta1", 0.9), beta2 = op.attributes.real("beta2", 0.999);
    const auto eps = op.attributes.real("eps", 1e-8);
    const auto decoupled = op.attributes.flag("decoupled");
    return [=](const Arrays& arrays) {
        const auto* step = arrays.in(0);
        const auto rate = step[step_block::learning_rate];
        const auto factor = update.gradient_factor(step, arrays.in(1));
        if (!factor)
            return;
        for (std::size_t k = 0; k < update.counts.size(); ++k) {
            const auto* gradient = arrays.in(3 + 5 * k);
            auto *parameter = arrays.out(4 * k), *m = arrays.out(4 * k + 1), *v = arrays.out(4 * k + 2),
                 *steps = arrays.out(4 * k + 3);
            for (std::int64_t i = 0; i < update.counts[k]; ++i) {
                const auto decay = update.weight_decay[k] * parameter[i];
                const auto g = gradient[i] * *factor + (decoupled ? 0.0 : decay);
                if (decoupled)
                    parameter[i] -= rate * decay;
                steps[i] += 1;
                m[i] = beta1 * m[i] + (1 - beta1) * g;
                v[i] = beta2 * v[i] + (1 - beta2) * g * g;
                const auto m_hat = m[i] / (1 - std::pow(beta1, steps[i]));
                const auto v_hat = v[i] / (1 - std::pow(beta2, steps[i]));
                parameter[i] -= rate * m_hat / (std::sqrt(v_hat) + eps);
            }
        }
    };
}

Compute loss_scale(const Graph&, const Op&) {
    return [](const Arrays& arrays) {
        arrays.out(0)[0] = arrays.in(1)[0];
        arrays.out(1)[step_block::loss_scale] = arrays.in(1)[0];
    };
}

/// Dynamic loss scaling of Micikevicius et al. (2018): halved by an overflow, doubled after `interval` good steps.
Compute update_loss_scale(const Graph&, const Op& op) {
    return [interval = static_cast<double>(op.attributes.integer("interval", 2000))](const Arrays& arrays) {
        auto *scale = arrays.out(0), *good_steps = arrays.out(1);
        if (!std::isfinite(arrays.in(0)[0])) {
            *scale = std::max(*scale / 2, 1.0);
            *good_steps = 0;
        } else if (*good_steps + 1 >= interval) {
            *scale *= 2;
            *good_steps = 0;
        } else {
            *good_steps += 1;
        }
    };
}

} // namespace

void add_update(Kinds& kinds) {
    kinds["record"] = record;
    kinds["accumulate"] = accumulate;
    kinds["gradient_norm"] = gradient_norm;
    kinds["loss_scale"] = loss_scale;
    kinds["update_loss_scale"] = update_loss_scale;
    kinds["sgd"] = sgd;
    kinds["adam"] = adam;
}

} // namespace espalier::reference
