// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/builder.h"

#include <algorithm>
#include <string>
#include <vector>

namespace espalier {

[[nodiscard]] inline int count(const Graph& graph, const std::string& kind) {
    return static_cast<int>(std::ranges::count(graph.ops(), kind, &Op::kind));
}

[[nodiscard]] inline std::vector<std::string> kinds(const Graph& graph) {
    std::vector<std::string> kinds;
    for (const auto& op : graph.ops())
        kinds.push_back(op.kind);
    return kinds;
}

/// The only op of that kind.
[[nodiscard]] inline const Op& the(const Graph& graph, const std::string& kind) {
    return *std::ranges::find(graph.ops(), kind, &Op::kind);
}

/// A training batch norm without affine parameters whose running buffers begin with `name`.
inline TensorId plain_norm(GraphBuilder& builder, const std::string& name, TensorId x, Attributes attributes = {},
                           double first_mean = 0) {
    const GraphBuilder::Scope scope(builder, name);
    const Shape channels{builder.graph().shape(x)[1]};
    const auto mean = builder.buffer("running_mean", channels, {Initializer::Kind::constant, first_mean});
    const auto var = builder.buffer("running_var", channels, {Initializer::Kind::constant, 1});
    const bool update = attributes.flag("update_running", true);
    return builder.apply("batch_norm", {x, no_tensor, no_tensor, mean, var}, std::move(attributes),
                         update ? std::vector{mean, var} : std::vector<TensorId>{})[0];
}

} // namespace espalier
