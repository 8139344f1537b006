// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

#include <algorithm>
#include <vector>

namespace espalier {

/// Largest sum of bytes of activations that live at once when the ops run in order, without any sharing in place: a
/// lower bound of what a plan needs, free of a backend's layouts.
inline std::int64_t peak_of_activations(const Graph& graph) {
    const auto ops = graph.ops();
    std::vector<std::size_t> last(graph.tensors().size(), 0);
    for (std::size_t i = 0; i < ops.size(); ++i)
        for (const auto* list : {&ops[i].inputs, &ops[i].outputs})
            for (auto tensor : *list)
                if (tensor != no_tensor)
                    last[static_cast<std::size_t>(tensor)] = i;
    for (auto tensor : graph.kept())
        last[static_cast<std::size_t>(tensor)] = ops.size();
    const auto bytes = [&](TensorId id) {
        const auto& tensor = graph.tensor(id);
        return tensor.role == Role::activation ? tensor.shape.count() * static_cast<std::int64_t>(size_of(tensor.type))
                                               : 0;
    };
    std::int64_t live = 0, peak = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        std::vector<TensorId> ending;
        for (auto output : ops[i].outputs)
            if (output != no_tensor)
                live += bytes(output);
        peak = std::max(peak, live);
        for (const auto* list : {&ops[i].inputs, &ops[i].outputs})
            for (auto tensor : *list)
                if (tensor != no_tensor && last[static_cast<std::size_t>(tensor)] == i &&
                    std::ranges::find(ending, tensor) == ending.end())
                    ending.push_back(tensor);
        for (auto tensor : ending)
            live -= bytes(tensor);
    }
    return peak;
}

} // namespace espalier
