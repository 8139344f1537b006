// SPDX-License-Identifier: Apache-2.0
#include "graph/op_registry.h"

namespace espalier {

Cost cost_of(const Graph& graph, const Op& op) {
    const auto& definition = OpRegistry::instance().find(op.kind);
    Cost cost = definition.cost ? definition.cost(graph, op) : Cost{};
    if (cost.bytes > 0)
        return cost;
    const auto add = [&](TensorId id) {
        if (id != no_tensor)
            cost.bytes +=
                static_cast<double>(graph.shape(id).count()) * static_cast<double>(size_of(graph.tensor(id).type));
    };
    for (auto input : op.inputs)
        add(input);
    for (auto output : op.outputs)
        add(output);
    return cost;
}

} // namespace espalier
