// SPDX-License-Identifier: Apache-2.0
#include "train/layer_report.h"

#include <map>

namespace espalier {
namespace {

/// "blocks.0.conv.weight" belongs to the layer "blocks.0.conv".
std::string layer_of_parameter(const std::string& name) {
    const auto dot = name.rfind('.');
    return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

} // namespace

std::vector<LayerRow> layer_table(const Graph& graph, std::span<const PlannedOp> ops) {
    std::vector<LayerRow> rows;
    std::map<std::string, std::size_t> index;
    const auto row_of = [&](const std::string& layer) -> LayerRow& {
        const auto [place, is_new] = index.emplace(layer, rows.size());
        if (is_new)
            rows.push_back({.layer = layer});
        return rows[place->second];
    };
    std::map<std::string, double> slowest; // op of each layer, in ms
    for (const auto& op : ops) {
        auto& row = row_of(op.layer);
        if (row.kind.empty())
            row.kind = op.kind;
        if (row.kernel.empty() || op.milliseconds > slowest[op.layer]) {
            row.kernel = op.kernel;
            slowest[op.layer] = op.milliseconds;
        }
        (op.stage == Stage::forward ? row.forward_milliseconds : row.backward_milliseconds) += op.milliseconds;
        row.flops += op.flops;
        row.bytes += op.bytes;
        row.memory += op.memory;
    }
    for (const auto& op : graph.ops()) {
        const auto found = index.find(op.layer);
        if (found != index.end() && op.stage == Stage::forward && !op.outputs.empty() && op.outputs[0] != no_tensor)
            rows[found->second].shape = graph.shape(op.outputs[0]).text();
    }
    for (const auto& tensor : graph.tensors())
        if (tensor.role == Role::parameter)
            if (const auto found = index.find(layer_of_parameter(tensor.name)); found != index.end())
                rows[found->second].parameters += tensor.shape.count();
    return rows;
}

Json plan_rows(std::span<const LayerRow> rows) {
    Json list = Json::array();
    for (const auto& row : rows)
        list.push_back({{"layer", row.layer},
                        {"kind", row.kind},
                        {"shape", row.shape},
                        {"parameters", row.parameters},
                        {"flops", row.flops},
                        {"bytes", row.bytes},
                        {"memory", row.memory},
                        {"kernel", row.kernel}});
    return list;
}

Json profile_rows(std::span<const LayerRow> rows) {
    Json list = Json::array();
    for (const auto& row : rows) {
        const double seconds = row.milliseconds() / 1e3;
        list.push_back({{"layer", row.layer},
                        {"ms", row.milliseconds()},
                        {"forward_ms", row.forward_milliseconds},
                        {"gflops", seconds > 0 ? row.flops / seconds / 1e9 : 0.0},
                        {"gbps", seconds > 0 ? row.bytes / seconds / 1e9 : 0.0},
                        {"bytes", row.bytes},
                        {"memory", row.memory},
                        {"kernel", row.kernel}});
    }
    return list;
}

Json to_json(const MemoryUse& memory) {
    return {{"weights", memory.weights},
            {"optimizer", memory.optimizer},
            {"activations", memory.activations},
            {"workspace", memory.workspace},
            {"data", memory.data},
            {"total", memory.total()}};
}

} // namespace espalier
