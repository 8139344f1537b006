// SPDX-License-Identifier: Apache-2.0
#include "graph/builder.h"
#include "graph/ops/arguments.h"
#include "graph/ops/families.h"

namespace espalier {
namespace {

std::vector<OutputSpec> infer_relu(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    return {{arguments.shape(0, "x", 1, Shape::max_rank)}};
}

std::vector<OutputSpec> infer_relu_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    const auto& y = arguments.shape(0, "y", 1, Shape::max_rank);
    arguments.expect_shape(1, "gy", y);
    return {{y}};
}

std::vector<TensorId> relu_gradient(const GradientRequest& request) {
    return {request.builder.apply_one("relu_gradient", {request.op.outputs[0], request.output_gradients[0]})};
}

} // namespace

TensorId through_activation(const GradientRequest& request) {
    const auto gy = request.output_gradients[0];
    if (!reads_relu(request.op.attributes))
        return gy;
    return request.builder.apply_one("relu_gradient", {request.op.outputs[0], gy});
}

void register_activation(OpRegistry& registry) {
    registry.add({.kind = "relu", .infer = infer_relu, .gradient = relu_gradient, .type_of = {0}});
    registry.add({.kind = "relu_gradient", .infer = infer_relu_gradient, .type_of = {1}});
}

} // namespace espalier
