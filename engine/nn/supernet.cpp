// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "base/json_fields.h"
#include "nn/cell.h"
#include "nn/networks.h"

#include <algorithm>
#include <set>

namespace espalier {

namespace {

/// The search network: every edge of every cell computes all candidates, weighted by the softmax of its row of alpha.
struct SupernetSettings {
    CellNetworkSettings cells;
    std::int64_t nodes = 4;
    std::vector<std::string> ops = all_candidates();

    static SupernetSettings from(const Json& json) {
        SupernetSettings settings;
        JsonFields fields(json, "network");
        fields.read("init_channels", settings.cells.init_channels, 1, 1024);
        fields.read("layers", settings.cells.layers, 1, 100);
        fields.read("stem_multiplier", settings.cells.stem_multiplier, 1, 16);
        fields.read("nodes", settings.nodes, 1, 16);
        if (const Json* ops = fields.list("ops")) {
            settings.ops.clear();
            for (const Json& op : *ops) {
                settings.ops.push_back(op.is_string() ? op.get<std::string>() : op.dump());
                check_candidate("network.ops", settings.ops.back());
            }
        }
        fields.finish();
        const std::set<std::string> distinct(settings.ops.begin(), settings.ops.end());
        if (distinct.size() != settings.ops.size() || distinct.size() == distinct.count("none")) {
            throw ConfigError("'network.ops' must name at least one operation besides none, and none of them twice.");
        }
        return settings;
    }
    [[nodiscard]] Json to_json() const {
        return {{"init_channels", cells.init_channels},
                {"layers", cells.layers},
                {"stem_multiplier", cells.stem_multiplier},
                {"nodes", nodes},
                {"ops", ops}};
    }
    /// Node i is reached from the two inputs and the i nodes before it.
    [[nodiscard]] std::int64_t edges() const { return nodes * (nodes + 3) / 2; }
};

/// sum_i softmax(alpha)[row, i] candidate_i(x). "none" is always zero and therefore not among the summands.
TensorId mixed_op(LayerBuilder& layers, const std::vector<std::string>& ops, TensorId weights, std::int64_t row,
                  TensorId x, std::int64_t stride) {
    std::vector<TensorId> inputs{weights};
    std::vector<std::int64_t> columns;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        if (ops[i] == "none") {
            continue;
        }
        const GraphBuilder::Scope scope(layers.ops(), "ops." + std::to_string(i));
        inputs.push_back(candidate(layers, ops[i], x, stride, false, true));
        columns.push_back(static_cast<std::int64_t>(i));
    }
    return layers.ops().apply_one("weighted_sum", inputs, {{"row", row}, {"columns", columns}});
}

TensorId build_supernet(GraphBuilder& builder, const NetworkSpec& spec, TensorId images, NormMode mode) {
    const SupernetSettings settings = SupernetSettings::from(spec.settings);
    const Shape table{settings.edges(), static_cast<std::int64_t>(settings.ops.size())};
    const auto weights_of = [&](const std::string& name) {
        const TensorId alpha = builder.parameter(name, table, {Initializer::Kind::normal, 1e-3});
        return builder.apply_one("softmax", {alpha}, {{"axis", std::int64_t{1}}});
    };
    const TensorId normal = weights_of("alpha_normal");
    const TensorId reduce = weights_of("alpha_reduce");
    LayerBuilder layers(builder, mode);
    const auto body = [&](LayerBuilder& in_cell, const CellPlace& place) {
        std::vector<TensorId> states(place.states.begin(), place.states.end());
        std::int64_t edge = 0;
        for (std::int64_t node = 0; node < settings.nodes; ++node) {
            std::vector<TensorId> terms;
            for (std::size_t from = 0; from < states.size(); ++from, ++edge) {
                const GraphBuilder::Scope scope(in_cell.ops(), "edges." + std::to_string(edge));
                terms.push_back(mixed_op(in_cell, settings.ops, place.reduction ? reduce : normal, edge, states[from],
                                         place.reduction && from < 2 ? 2 : 1));
            }
            states.push_back(in_cell.ops().apply_one("add", terms));
        }
        return std::vector<TensorId>(states.begin() + 2, states.end());
    };
    return build_cell_network(layers, spec, settings.cells, false, images, body);
}

} // namespace

NetworkDefinition supernet() {
    return {"supernet", build_supernet,
            [](const Json& settings) { return SupernetSettings::from(settings).to_json(); }};
}

} // namespace espalier
