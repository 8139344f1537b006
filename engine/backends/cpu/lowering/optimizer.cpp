// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/lowering/lowering.h"
#include "graph/step_block.h"

#include <algorithm>
#include <cmath>

namespace espalier::cpu {

namespace {

// Updates go entry by entry: any layout is right, as long as all tensors of one parameter have the same. Padding has
// zero gradients and stays zero.

Lowered lower_record(const Context& c) {
    Lowered result = c.plain();
    const std::int64_t rows = c.output(0).shape[0];
    const std::size_t values = c.op.inputs.size() - 1;
    result.kernel = loop_kernel(c, "record", [rows, values](const Arguments& a) {
        const auto row = static_cast<std::int64_t>(a.in(0)[step_block::history_row]) % rows;
        for (std::size_t i = 0; i < values; ++i) {
            a.out(0)[row * static_cast<std::int64_t>(values) + static_cast<std::int64_t>(i)] = *a.in(1 + i);
        }
    });
    return result;
}

Lowered lower_accumulate(const Context& c) {
    Lowered result = c.plain();
    std::vector<std::int64_t> counts;
    for (std::size_t i = 1; i + 1 < c.op.inputs.size(); i += 2) {
        Layout layout = c.given(i + 1).defined() ? c.given(i + 1) : c.given(i);
        if (!layout.defined()) {
            layout = result.inputs[i];
        }
        result.inputs[i] = result.inputs[i + 1] = result.outputs[i / 2] = layout;
        counts.push_back(floats_of(layout));
    }
    result.kernel = loop_kernel(c, "accumulate", [&k = c.kernels, t = c.threads, counts](const Arguments& a) {
        const bool first = a.in(0)[step_block::micro_step] == 0.0f;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const float* parts[] = {a.in(1 + 2 * i), a.out(i)};
            k.add(parts, first ? 1 : 2, a.out(i), false, counts[i], t);
        }
    });
    return result;
}

Lowered lower_gradient_norm(const Context& c) {
    Lowered result = c.plain();
    std::vector<std::int64_t> counts;
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < c.op.inputs.size(); ++i) {
        if (c.given(i).defined()) {
            result.inputs[i] = c.given(i);
        }
        counts.push_back(floats_of(result.inputs[i]));
        longest = std::max(longest, counts.back());
    }
    result.workspace = static_cast<std::size_t>(dot_partials(longest)) * sizeof(double);
    result.kernel = loop_kernel(c, "gradient norm", [&k = c.kernels, t = c.threads, counts](const Arguments& a) {
        double total = 0.0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            total += k.sum_of_squares(a.in(1 + i), a.scratch<double>(), counts[i], t);
        }
        const double scale = static_cast<double>(a.in(0)[step_block::loss_scale]) *
                             static_cast<double>(a.in(0)[step_block::micro_steps]);
        *a.out(0) = static_cast<float>(std::sqrt(total) / scale);
    });
    return result;
}

/// sgd and adam: step, norm?, then groups of a parameter, its gradient and `slots` more.
Lowered lower_optimizer(const Context& c, std::size_t slots, void (*KernelTable::*update)(const OptimizerStep&)) {
    const Attributes& attributes = c.op.attributes;
    const std::size_t group = 2 + slots;
    Lowered result = c.plain();
    std::vector<OptimizerTensor> tensors;
    const auto decay = static_cast<float>(attributes.real("weight_decay", 0.0));
    for (std::size_t at = 2; at + group <= c.op.inputs.size(); at += group) {
        const Layout layout = c.given(at).defined() ? c.given(at) : c.plain_input(at);
        const std::size_t first_output = tensors.size() * (1 + slots);
        for (std::size_t i = 0; i < group; ++i) {
            result.inputs[at + i] = layout;
        }
        for (std::size_t i = 0; i < 1 + slots; ++i) {
            result.outputs[first_output + i] = layout;
        }
        tensors.push_back({nullptr, nullptr, {}, floats_of(layout), decay});
    }
    for (const std::int64_t position : attributes.integers("no_decay")) {
        tensors.at(static_cast<std::size_t>(position)).weight_decay = 0.0f;
    }
    OptimizerStep step{};
    step.clip_norm = static_cast<float>(attributes.real("clip_norm", 0.0));
    step.momentum = static_cast<float>(attributes.real("momentum", 0.0));
    step.nesterov = attributes.flag("nesterov", false);
    step.beta1 = attributes.real("beta1", 0.9);
    step.beta2 = attributes.real("beta2", 0.999);
    step.eps = attributes.real("eps", 1e-8);
    step.decoupled = attributes.flag("decoupled", false);
    step.threads = c.threads;
    result.kernel =
        loop_kernel(c, c.op.kind, [&k = c.kernels, update, step, tensors, slots](const Arguments& a) mutable {
            for (std::size_t i = 0; i < tensors.size(); ++i) {
                const std::size_t at = 2 + i * (2 + slots);
                tensors[i].parameter = a.out(i * (1 + slots));
                tensors[i].gradient = a.in(at + 1);
                for (std::size_t slot = 0; slot < slots; ++slot) {
                    tensors[i].slot[slot] = a.out(i * (1 + slots) + 1 + slot);
                }
            }
            step.tensors = tensors.data();
            step.count = static_cast<std::int64_t>(tensors.size());
            step.step = a.in(0);
            step.norm = a.in(1);
            (k.*update)(step);
        });
    return result;
}

} // namespace

void add_optimizer(LoweringTable& table) {
    table["record"] = {lower_record, {}};
    table["accumulate"] = {lower_accumulate, {}};
    table["gradient_norm"] = {lower_gradient_norm, {}};
    table["sgd"] = {[](const Context& c) { return lower_optimizer(c, 1, &KernelTable::sgd); }, {}};
    table["adam"] = {[](const Context& c) { return lower_optimizer(c, 3, &KernelTable::adam); }, {}};
}

} // namespace espalier::cpu
