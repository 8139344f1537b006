// SPDX-License-Identifier: Apache-2.0
#include "graph/builder.h"
#include "graph/ops/arguments.h"
#include "graph/ops/families.h"

namespace espalier {
namespace {

std::vector<OutputSpec> infer_softmax(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    const auto& x = arguments.shape(0, "x", 1, Shape::max_rank);
    static_cast<void>(arguments.axis(x.rank(), 1));
    return {{x}};
}

std::vector<OutputSpec> infer_softmax_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    const auto& y = arguments.shape(0, "y", 1, Shape::max_rank);
    static_cast<void>(arguments.axis(y.rank(), 1));
    arguments.expect_shape(1, "gy", y);
    return {{y}};
}

std::vector<TensorId> softmax_gradient(const GradientRequest& request) {
    return {request.builder.apply_one("softmax_gradient", {request.op.outputs[0], request.output_gradients[0]},
                                      request.op.attributes)};
}

} // namespace

void register_softmax(OpRegistry& registry) {
    registry.add({.kind = "softmax", .infer = infer_softmax, .gradient = softmax_gradient});
    registry.add({.kind = "softmax_gradient", .infer = infer_softmax_gradient});
}

} // namespace espalier
