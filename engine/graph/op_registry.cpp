// SPDX-License-Identifier: Apache-2.0
#include "graph/op_registry.h"

#include "base/error.h"

#include <algorithm>

namespace espalier {

void OpRegistry::add(OpDefinition definition) {
    if (definition.kind.empty() || !definition.infer)
        throw ConfigError("An op definition needs a kind and a way to infer its outputs.");
    const auto kind = definition.kind;
    if (!definitions_.emplace(kind, std::move(definition)).second)
        throw ConfigError("Op '" + kind + "' is registered already: choose another name.");
}

const OpDefinition& OpRegistry::find(const std::string& kind) const {
    const auto found = definitions_.find(kind);
    if (found == definitions_.end())
        throw ConfigError("There is no op '" + kind + "': docs/OPS.md lists those that exist.");
    return found->second;
}

std::vector<std::string> OpRegistry::kinds() const {
    std::vector<std::string> kinds;
    for (const auto& [kind, definition] : definitions_)
        kinds.push_back(kind);
    return kinds;
}

DType output_type(const Graph& graph, const Op& op, const OpDefinition& definition, std::size_t index, DType inferred) {
    if (definition.type_of.empty())
        return inferred;
    const auto source = definition.type_of[std::min(index, definition.type_of.size() - 1)];
    if (source < 0)
        return inferred;
    return graph.tensor(op.inputs.at(static_cast<std::size_t>(source))).type;
}

bool is_pure(const Graph& graph, const Op& op) {
    return OpRegistry::instance().find(op.kind).pure && std::ranges::all_of(op.outputs, [&](TensorId output) {
               return output == no_tensor || graph.tensor(output).role == Role::activation;
           });
}

} // namespace espalier
