// SPDX-License-Identifier: Apache-2.0
#include "graph/builder.h"
#include "graph/ops/arguments.h"
#include "graph/ops/families.h"

namespace espalier {
namespace {

std::vector<OutputSpec> infer_linear(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 3);
    const auto& x = arguments.shape(0, "x", 2);
    const auto& w = arguments.shape(1, "w", 2);
    arguments.expect_shape(1, "w", {w[0], x[1]});
    arguments.expect_shape(2, "bias", {w[0]}, true);
    return {{{x[0], w[0]}}};
}

std::vector<OutputSpec> infer_linear_input_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    const auto& gy = arguments.shape(0, "gy", 2);
    const auto& w = arguments.shape(1, "w", 2);
    arguments.expect_shape(1, "w", {gy[1], w[1]});
    return {{{gy[0], w[1]}}};
}

std::vector<OutputSpec> infer_linear_weight_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    const auto& x = arguments.shape(0, "x", 2);
    const auto& gy = arguments.shape(1, "gy", 2);
    arguments.expect_shape(1, "gy", {x[0], gy[1]});
    return {{{gy[1], x[1]}}};
}

std::vector<OutputSpec> infer_channel_sum(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    return {{{arguments.shape(0, "x", 2, Shape::max_rank)[1]}}};
}

std::vector<TensorId> linear_gradient(const GradientRequest& request) {
    auto& builder = request.builder;
    const auto gy = request.output_gradients[0];
    std::vector<TensorId> gradients(request.op.inputs.size(), no_tensor);
    if (gradients.size() > 2 && request.wanted[2])
        gradients[2] = builder.apply_one("channel_sum", {gy});
    if (request.wanted[1])
        gradients[1] = builder.apply_one("linear_weight_gradient", {request.op.inputs[0], gy});
    if (request.wanted[0])
        gradients[0] = builder.apply_one("linear_input_gradient", {gy, request.op.inputs[1]});
    return gradients;
}

/// 2 N I O.
Cost multiply_adds(std::int64_t batch, const Shape& weights) {
    return {2.0 * static_cast<double>(batch) * static_cast<double>(weights.count())};
}

} // namespace

void register_linear(OpRegistry& registry) {
    registry.add(
        {.kind = "linear",
         .infer = infer_linear,
         .gradient = linear_gradient,
         .cost = [](const Graph& graph,
                    const Op& op) { return multiply_adds(graph.shape(op.inputs[0])[0], graph.shape(op.inputs[1])); },
         .arity = 3,
         .type_of = {0}});
    registry.add(
        {.kind = "linear_input_gradient",
         .infer = infer_linear_input_gradient,
         .cost = [](const Graph& graph,
                    const Op& op) { return multiply_adds(graph.shape(op.inputs[0])[0], graph.shape(op.inputs[1])); },
         .type_of = {0}});
    registry.add(
        {.kind = "linear_weight_gradient",
         .infer = infer_linear_weight_gradient,
         .cost = [](const Graph& graph,
                    const Op& op) { return multiply_adds(graph.shape(op.inputs[0])[0], graph.shape(op.outputs[0])); },
         .type_of = {1}});
    registry.add({.kind = "channel_sum", .infer = infer_channel_sum});
}

} // namespace espalier
