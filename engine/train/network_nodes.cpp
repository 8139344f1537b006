// SPDX-License-Identifier: Apache-2.0
#include "train/network_nodes.h"

#include "graph/op_registry.h"

#include <map>
#include <set>

namespace espalier {
namespace {

/// What the logits are computed from.
std::set<TensorId> needed_for(const Graph& graph, TensorId logits) {
    std::set<TensorId> needed{logits};
    for (auto op = graph.ops().rbegin(); op != graph.ops().rend(); ++op)
        for (const TensorId output : op->outputs)
            if (needed.contains(output)) {
                needed.insert(op->inputs.begin(), op->inputs.end());
                break;
            }
    return needed;
}

} // namespace

Json network_nodes(const NetworkSpec& network, std::int64_t batch) {
    const auto forward = build_forward(network, batch, NormMode::training);
    const auto& graph = forward.graph;
    const auto needed = needed_for(graph, forward.logits);
    std::map<TensorId, std::size_t> places{{forward.images, 0}};
    Json nodes = Json::array();
    nodes.push_back(
        {{"layer", ""}, {"kind", "images"}, {"shape", graph.shape(forward.images).text()}, {"inputs", Json::array()}});
    for (const Op& op : graph.ops()) {
        if (op.outputs.empty() || !needed.contains(op.outputs[0]))
            continue;
        Json inputs = Json::array();
        std::int64_t parameters = 0;
        for (const TensorId input : op.inputs) {
            if (input == no_tensor)
                continue;
            if (const auto place = places.find(input); place != places.end())
                inputs.push_back(place->second);
            if (graph.tensor(input).role == Role::parameter)
                parameters += graph.shape(input).count();
        }
        if (inputs.empty())
            continue;
        places[op.outputs[0]] = nodes.size();
        Json node{{"layer", op.layer},
                  {"kind", op.kind},
                  {"shape", graph.shape(op.outputs[0]).text()},
                  {"inputs", std::move(inputs)}};
        if (parameters > 0)
            node["parameters"] = parameters;
        if (const double flops = cost_of(graph, op).flops; flops > 0)
            node["flops"] = flops;
        nodes.push_back(std::move(node));
    }
    return nodes;
}

} // namespace espalier
