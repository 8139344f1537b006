// SPDX-License-Identifier: Apache-2.0
#include "graph/builder.h"
#include "graph/ops/arguments.h"
#include "graph/ops/families.h"

#include <limits>

namespace espalier {
namespace {

std::vector<OutputSpec> infer_cast(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, std::numeric_limits<std::size_t>::max());
    const auto type = arguments.floating_type("type");
    std::vector<OutputSpec> outputs;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const auto name = "x" + std::to_string(i + 1);
        outputs.push_back({arguments.shape(i, name, 1, Shape::max_rank), type});
        arguments.expect_floating(i, name);
    }
    return outputs;
}

/// Casts back, all that are wanted in one op.
std::vector<TensorId> cast_gradient(const GradientRequest& request) {
    auto& builder = request.builder;
    std::vector<TensorId> gradients(request.op.inputs.size(), no_tensor), flowing;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < gradients.size(); ++i)
        if (request.wanted[i] && request.output_gradients[i] != no_tensor) {
            flowing.push_back(request.output_gradients[i]);
            places.push_back(i);
        }
    if (flowing.empty())
        return gradients;
    const auto type = std::string(name_of(builder.graph().tensor(request.op.inputs[places[0]]).type));
    const auto outputs = builder.apply("cast", std::move(flowing), {{"type", type}});
    for (std::size_t i = 0; i < places.size(); ++i)
        gradients[places[i]] = outputs[i];
    return gradients;
}

} // namespace

void register_cast(OpRegistry& registry) {
    registry.add({.kind = "cast", .infer = infer_cast, .gradient = cast_gradient});
}

} // namespace espalier
