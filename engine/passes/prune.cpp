// SPDX-License-Identifier: Apache-2.0
#include "graph/op_registry.h"
#include "passes/passes.h"

#include <algorithm>

namespace espalier {

Graph prune(Graph graph) {
    std::vector<char> read(graph.tensors().size(), 0);
    const auto mark = [&](TensorId tensor) {
        if (tensor != no_tensor)
            read[static_cast<std::size_t>(tensor)] = 1;
    };
    const auto is_read = [&](TensorId tensor) { return tensor != no_tensor && read[static_cast<std::size_t>(tensor)]; };
    for (auto tensor : graph.kept())
        mark(tensor);

    std::vector<Op> ops(graph.ops().begin(), graph.ops().end());
    std::vector<Op> needed;
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
        if (is_pure(graph, *op) && std::ranges::none_of(op->outputs, is_read))
            continue;
        if (op->kind == "batch_norm_gradient")
            for (std::size_t i = 1; i < op->outputs.size(); ++i)
                if (!is_read(op->outputs[i]))
                    op->outputs[i] = no_tensor;
        std::ranges::for_each(op->inputs, mark);
        needed.push_back(std::move(*op));
    }
    std::ranges::reverse(needed);
    graph.set_ops(std::move(needed));
    return graph;
}

} // namespace espalier
