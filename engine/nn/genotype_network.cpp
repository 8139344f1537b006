// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "base/json_fields.h"
#include "nn/cell.h"
#include "nn/genotype.h"
#include "nn/networks.h"

namespace espalier {

namespace {

/// The discrete network of a genotype: two operations a node, affine batch norms, pools without batch norm. The default
/// is the second order CIFAR genotype of DARTS (Liu et al. 2019), so that the network can be trained without a search.
struct GenotypeSettings {
    CellNetworkSettings cells;
    Genotype genotype{{{"sep_conv_3x3", 0},
                       {"sep_conv_3x3", 1},
                       {"sep_conv_3x3", 0},
                       {"sep_conv_3x3", 1},
                       {"sep_conv_3x3", 1},
                       {"skip_connect", 0},
                       {"skip_connect", 0},
                       {"dil_conv_3x3", 2}},
                      {{"max_pool_3x3", 0},
                       {"max_pool_3x3", 1},
                       {"skip_connect", 2},
                       {"max_pool_3x3", 1},
                       {"max_pool_3x3", 0},
                       {"skip_connect", 2},
                       {"skip_connect", 2},
                       {"max_pool_3x3", 1}}};

    static GenotypeSettings from(const Json& json) {
        GenotypeSettings settings;
        JsonFields fields(json, "network");
        fields.read("init_channels", settings.cells.init_channels, 1, 1024);
        fields.read("layers", settings.cells.layers, 1, 100);
        fields.read("stem_multiplier", settings.cells.stem_multiplier, 1, 16);
        const Json* normal = fields.list("normal");
        const Json* reduce = fields.list("reduce");
        fields.finish();
        if (!normal != !reduce) {
            throw ConfigError("'network.normal' and 'network.reduce' make a genotype together: give both or none.");
        }
        if (normal) {
            settings.genotype = Genotype::from_json({{"normal", *normal}, {"reduce", *reduce}});
        }
        return settings;
    }
    [[nodiscard]] Json to_json() const {
        Json json = {{"init_channels", cells.init_channels},
                     {"layers", cells.layers},
                     {"stem_multiplier", cells.stem_multiplier}};
        json.update(genotype.to_json());
        return json;
    }
};

TensorId build_genotype(GraphBuilder& builder, const NetworkSpec& spec, TensorId images, NormMode mode) {
    const GenotypeSettings settings = GenotypeSettings::from(spec.settings);
    LayerBuilder layers(builder, mode);
    const auto body = [&](LayerBuilder& in_cell, const CellPlace& place) {
        const auto& edges = place.reduction ? settings.genotype.reduce : settings.genotype.normal;
        std::vector<TensorId> states(place.states.begin(), place.states.end());
        const auto term = [&](std::size_t i) {
            const GraphBuilder::Scope scope(in_cell.ops(), "ops." + std::to_string(i));
            const auto from = static_cast<std::size_t>(edges[i].input);
            return candidate(in_cell, edges[i].operation, states[from], place.reduction && from < 2 ? 2 : 1, true,
                             false);
        };
        for (std::size_t i = 0; i < edges.size(); i += 2) {
            const TensorId first = term(i);
            const TensorId second = term(i + 1);
            states.push_back(in_cell.ops().apply_one("add", {first, second}));
        }
        return std::vector<TensorId>(states.begin() + 2, states.end());
    };
    return build_cell_network(layers, spec, settings.cells, true, images, body);
}

} // namespace

NetworkDefinition genotype_network() {
    return {"genotype", build_genotype,
            [](const Json& settings) { return GenotypeSettings::from(settings).to_json(); }};
}

} // namespace espalier
