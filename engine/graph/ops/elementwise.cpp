// SPDX-License-Identifier: Apache-2.0
#include "graph/builder.h"
#include "graph/ops/arguments.h"
#include "graph/ops/families.h"

#include <limits>

namespace espalier {
namespace {

std::vector<OutputSpec> infer_add(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, std::numeric_limits<std::size_t>::max());
    static_cast<void>(reads_relu(op.attributes)); // checks it
    const auto& first = arguments.shape(0, "x1", 1, Shape::max_rank);
    for (std::size_t i = 1; i < op.inputs.size(); ++i)
        arguments.expect_shape(i, "x" + std::to_string(i + 1), first);
    return {{first}};
}

std::vector<TensorId> add_gradient(const GradientRequest& request) {
    const auto gy = through_activation(request);
    std::vector<TensorId> gradients(request.op.inputs.size(), no_tensor);
    for (std::size_t i = 0; i < gradients.size(); ++i)
        if (request.wanted[i])
            gradients[i] = gy;
    return gradients;
}

std::vector<OutputSpec> infer_scale(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    arguments.expect_shape(1, "c", {1});
    return {{arguments.shape(0, "x", 1, Shape::max_rank)}};
}

std::vector<TensorId> scale_gradient(const GradientRequest& request) {
    const auto x = request.op.inputs[0], c = request.op.inputs[1];
    const auto gy = request.output_gradients[0];
    std::vector<TensorId> gradients(2, no_tensor);
    if (request.wanted[1])
        gradients[1] = request.builder.apply_one("dot", {gy, x});
    if (request.wanted[0])
        gradients[0] = request.builder.apply_one("scale", {gy, c});
    return gradients;
}

std::vector<OutputSpec> infer_dot(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    arguments.expect_shape(1, "b", arguments.shape(0, "a", 1, Shape::max_rank));
    return {{{1}}};
}

std::vector<TensorId> dot_gradient(const GradientRequest& request) {
    const auto g = request.output_gradients[0];
    std::vector<TensorId> gradients(2, no_tensor);
    for (std::size_t i = 0; i < 2; ++i)
        if (request.wanted[i])
            gradients[i] = request.builder.apply_one("scale", {request.op.inputs[1 - i], g});
    return gradients;
}

std::vector<OutputSpec> infer_constant(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(0, 0);
    return {{arguments.shape_attribute("shape", 1, Shape::max_rank), arguments.floating_type("type", "f32")}};
}

} // namespace

void register_elementwise(OpRegistry& registry) {
    registry.add({.kind = "add", .infer = infer_add, .gradient = add_gradient, .type_of = {0}});
    registry.add({.kind = "scale", .infer = infer_scale, .gradient = scale_gradient, .type_of = {0}});
    registry.add({.kind = "dot", .infer = infer_dot, .gradient = dot_gradient});
    registry.add({.kind = "constant", .infer = infer_constant});
}

} // namespace espalier
