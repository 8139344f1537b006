// SPDX-License-Identifier: Apache-2.0
#include "nn/genotype.h"

#include "base/counted.h"
#include "base/error.h"
#include "nn/cell.h"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

Json cell_to_json(const std::vector<GenotypeEdge>& cell) {
    Json list = Json::array();
    for (const GenotypeEdge& edge : cell) {
        list.push_back(Json::array({edge.operation, edge.input}));
    }
    return list;
}

std::vector<GenotypeEdge> cell_from_json(const Json& json, const std::string& name) {
    const auto refuse = [&](const std::string& reason) { throw ConfigError("'" + name + "' of a genotype " + reason); };
    if (!json.is_array() || json.empty() || json.size() % 2 != 0 || json.size() > 32) {
        refuse("must be a list of two [operation, input] pairs for each of 1 to 16 nodes.");
    }
    std::vector<GenotypeEdge> cell;
    for (const Json& pair : json) {
        const std::int64_t node = static_cast<std::int64_t>(cell.size() / 2);
        if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number_integer()) {
            refuse("must hold pairs like [\"sep_conv_3x3\", 0], but has " + pair.dump() + ".");
        }
        const GenotypeEdge edge{pair[0].get<std::string>(), pair[1].get<std::int64_t>()};
        check_candidate(name, edge.operation);
        if (edge.operation == "none" || edge.input < 0 || edge.input > node + 1) {
            refuse("has the edge " + pair.dump() + " at node " + std::to_string(node) +
                   "; the input must lie between 0 and " + std::to_string(node + 1) +
                   ", and none is no operation of a finished network.");
        }
        cell.push_back(edge);
    }
    return cell;
}

/// Index and softmax weight of the best operation of one edge other than "none".
std::pair<std::size_t, double> best_operation(const float* row, const std::vector<std::string>& ops) {
    const double largest = *std::max_element(row, row + ops.size());
    double sum = 0;
    std::size_t best = ops.size();
    for (std::size_t i = 0; i < ops.size(); ++i) {
        sum += std::exp(row[i] - largest);
        if (ops[i] != "none" && (best == ops.size() || row[i] > row[best])) {
            best = i;
        }
    }
    return {best, std::exp(row[best] - largest) / sum};
}

} // namespace

Json Genotype::to_json() const { return {{"normal", cell_to_json(normal)}, {"reduce", cell_to_json(reduce)}}; }

Genotype Genotype::from_json(const Json& json) {
    if (!json.is_object() || !json.contains("normal") || !json.contains("reduce")) {
        throw ConfigError("A genotype must be an object with \"normal\" and \"reduce\".");
    }
    return {cell_from_json(json.at("normal"), "normal"), cell_from_json(json.at("reduce"), "reduce")};
}

std::vector<GenotypeEdge> derive_cell(const std::vector<float>& alpha, const std::vector<std::string>& ops) {
    if (std::ranges::all_of(ops, [](const std::string& op) { return op == "none"; })) {
        throw ConfigError("A genotype needs at least one operation other than none.");
    }
    std::vector<GenotypeEdge> cell;
    std::size_t edge = 0;
    for (std::int64_t node = 0; edge * ops.size() < alpha.size(); ++node) {
        struct Choice {
            double weight;
            GenotypeEdge edge;
        };
        std::vector<Choice> choices;
        for (std::int64_t from = 0; from < node + 2; ++from, ++edge) {
            if ((edge + 1) * ops.size() > alpha.size()) {
                throw ConfigError("A table of " + counted(alpha.size(), "alpha") + " does not fit cells with " +
                                  counted(ops.size(), "operation") + " an edge.");
            }
            const auto [best, weight] = best_operation(&alpha[edge * ops.size()], ops);
            choices.push_back({weight, {ops[best], from}});
        }
        std::ranges::stable_sort(choices, std::greater{}, &Choice::weight);
        std::ranges::sort(choices.begin(), choices.begin() + 2, std::less{},
                          [](const Choice& c) { return c.edge.input; });
        cell.push_back(choices[0].edge);
        cell.push_back(choices[1].edge);
    }
    return cell;
}

Genotype derive_genotype(const ParameterStore& store, const std::vector<std::string>& ops) {
    return {derive_cell(store.at("alpha_normal").values, ops), derive_cell(store.at("alpha_reduce").values, ops)};
}

} // namespace espalier
