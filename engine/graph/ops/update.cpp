// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/arguments.h"
#include "graph/ops/families.h"
#include "graph/step_block.h"

namespace espalier {
namespace {

void expect_step(const Arguments& arguments) { arguments.expect_shape(0, "step", {step_block::size}); }

/// Inputs from `begin` come in groups of `size`; returns the number of groups.
std::size_t groups(const Arguments& arguments, std::size_t begin, std::size_t size, const std::string& names) {
    const auto count = arguments.op().inputs.size() - begin;
    if (count == 0 || count % size != 0)
        arguments.refuse("takes " + names + " again and again, a multiple of " + std::to_string(size) +
                         " inputs and at least one group, but got " + std::to_string(count) + ".");
    return count / size;
}

std::vector<OutputSpec> infer_record(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, Arguments::any_number);
    expect_step(arguments);
    const auto values = op.inputs.size() - 1;
    for (std::size_t i = 1; i <= values; ++i)
        arguments.expect_shape(i, "v" + std::to_string(i), {1});
    if (op.outputs.size() != 1 || op.outputs[0] == no_tensor)
        arguments.refuse("must list the history as changed.");
    arguments.expect_changes({op.outputs[0]}, "the history");
    const auto& history = graph.shape(op.outputs[0]);
    if (history.rank() != 2 || history[0] < 1 || history[1] != static_cast<std::int64_t>(values))
        arguments.refuse("history must be [rows, " + std::to_string(values) + "], but is " + history.text() + ".");
    return {};
}

std::vector<OutputSpec> infer_accumulate(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(3, Arguments::any_number);
    expect_step(arguments);
    const auto count = groups(arguments, 1, 2, "(g, sum)");
    std::vector<TensorId> sums;
    for (std::size_t i = 0; i < count; ++i) {
        arguments.expect_shape(2 + 2 * i, "sum", arguments.shape(1 + 2 * i, "g", 1, Shape::max_rank));
        sums.push_back(op.inputs[2 + 2 * i]);
    }
    arguments.expect_changes(sums, "the sums");
    return {};
}

std::vector<OutputSpec> infer_gradient_norm(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, Arguments::any_number);
    expect_step(arguments);
    for (std::size_t i = 1; i < op.inputs.size(); ++i)
        static_cast<void>(arguments.shape(i, "g" + std::to_string(i), 1, Shape::max_rank));
    return {{{1}}};
}

/// sgd and adam: step, norm?, then groups of (parameter, g, slots...), all of one shape; every entry but g is changed.
std::vector<OutputSpec> infer_optimizer(const Arguments& arguments, const std::vector<std::string>& names,
                                        const std::string& group) {
    const auto& op = arguments.op();
    expect_step(arguments);
    arguments.expect_shape(1, "norm", {1}, true);
    const auto& attributes = arguments.attributes();
    const auto clip = attributes.real("clip_norm", 0.0);
    if (!(clip >= 0))
        arguments.refuse("clip_norm must be at least 0, but is " + std::to_string(clip) + ".");
    if (clip > 0 && !arguments.given(1))
        arguments.refuse("needs the gradient norm to clip by it: clip_norm is " + std::to_string(clip) +
                         ", but norm is absent.");
    const auto decay = attributes.real("weight_decay", 0.0);
    if (!(decay >= 0))
        arguments.refuse("weight_decay must be at least 0, but is " + std::to_string(decay) + ".");
    const auto count = groups(arguments, 2, names.size(), group);
    for (auto position : attributes.integers("no_decay"))
        if (position < 0 || position >= static_cast<std::int64_t>(count))
            arguments.refuse("no_decay must name positions from 0 to " + std::to_string(count - 1) + ", but one is " +
                             std::to_string(position) + ".");
    std::vector<TensorId> changed;
    for (std::size_t i = 0; i < count; ++i) {
        const auto begin = 2 + i * names.size();
        const auto shape = arguments.shape(begin, names[0], 1, Shape::max_rank);
        for (std::size_t k = 0; k < names.size(); ++k) {
            arguments.expect_shape(begin + k, names[k], shape);
            if (names[k] != "g")
                changed.push_back(op.inputs[begin + k]);
        }
    }
    arguments.expect_changes(changed, "parameters and slots");
    return {};
}

std::vector<OutputSpec> infer_sgd(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(5, Arguments::any_number);
    const auto momentum = op.attributes.real("momentum", 0.0);
    if (!(momentum >= 0 && momentum < 1))
        arguments.refuse("momentum must be at least 0 and less than 1, but is " + std::to_string(momentum) + ".");
    return infer_optimizer(arguments, {"parameter", "g", "momentum"}, "(parameter, g, momentum)");
}

std::vector<OutputSpec> infer_adam(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(7, Arguments::any_number);
    for (const auto* name : {"beta1", "beta2"})
        if (const auto beta = op.attributes.real(name, 0.9); !(beta >= 0 && beta < 1))
            arguments.refuse(std::string(name) + " must be at least 0 and less than 1, but is " + std::to_string(beta) +
                             ".");
    if (const auto eps = op.attributes.real("eps", 1e-8); !(eps > 0))
        arguments.refuse("eps must be greater than 0, but is " + std::to_string(eps) + ".");
    return infer_optimizer(arguments, {"parameter", "g", "exp_avg", "exp_avg_sq", "steps"},
                           "(parameter, g, exp_avg, exp_avg_sq, steps)");
}

std::vector<OutputSpec> infer_loss_scale(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    expect_step(arguments);
    arguments.expect_shape(1, "scale", {1});
    arguments.expect_changes({op.inputs[0]}, "step");
    return {{{1}}};
}

std::vector<OutputSpec> infer_update_loss_scale(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(3, 3);
    arguments.expect_shape(0, "norm", {1});
    arguments.expect_shape(1, "scale", {1});
    arguments.expect_shape(2, "good_steps", {1});
    if (const auto interval = op.attributes.integer("interval", 2000); interval < 1)
        arguments.refuse("interval must be at least 1, but is " + std::to_string(interval) + ".");
    arguments.expect_changes({op.inputs[1], op.inputs[2]}, "scale and good_steps");
    return {};
}

} // namespace

void register_update(OpRegistry& registry) {
    registry.add({.kind = "record", .infer = infer_record, .pure = false});
    registry.add({.kind = "accumulate", .infer = infer_accumulate, .pure = false});
    registry.add({.kind = "gradient_norm", .infer = infer_gradient_norm});
    registry.add({.kind = "loss_scale", .infer = infer_loss_scale, .pure = false});
    registry.add({.kind = "update_loss_scale", .infer = infer_update_loss_scale, .pure = false});
    registry.add({.kind = "sgd", .infer = infer_sgd, .pure = false});
    registry.add({.kind = "adam", .infer = infer_adam, .pure = false});
}

} // namespace espalier
