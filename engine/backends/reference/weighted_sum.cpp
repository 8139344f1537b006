// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/family.h"

#include <algorithm>
#include <vector>

namespace espalier::reference {
namespace {

/// Places of the candidates' weights in the table [rows, columns].
std::vector<std::int64_t> places(const Op& op, const Shape& table) {
    auto places = op.attributes.integers("columns");
    for (auto& column : places)
        column += op.attributes.integer("row") * table[1];
    return places;
}

Compute weighted_sum(const Graph& graph, const Op& op) {
    const auto at = places(op, input_shape(graph, op, 0));
    const auto count = output_shape(graph, op, 0).count();
    return [=](const Arrays& arrays) {
        for (std::int64_t i = 0; i < count; ++i) {
            double sum = 0;
            for (std::size_t k = 0; k < at.size(); ++k)
                sum += arrays.in(0)[at[k]] * arrays.in(1 + k)[i];
            arrays.out(0)[i] = sum;
        }
    };
}

Compute weighted_sum_gradient(const Graph& graph, const Op& op) {
    const auto at = places(op, input_shape(graph, op, 0));
    const auto count = input_shape(graph, op, 1).count();
    return [=](const Arrays& arrays) {
        for (std::size_t k = 0; k < at.size(); ++k)
            if (auto* gx = arrays.out(k))
                for (std::int64_t i = 0; i < count; ++i)
                    gx[i] = arrays.in(0)[at[k]] * arrays.in(1)[i];
    };
}

Compute weighted_sum_weight_gradient(const Graph& graph, const Op& op) {
    const auto table = output_shape(graph, op, 0);
    const auto at = places(op, table);
    const auto count = input_shape(graph, op, 0).count();
    return [=](const Arrays& arrays) {
        std::fill_n(arrays.out(0), table.count(), 0.0);
        for (std::size_t k = 0; k < at.size(); ++k)
            for (std::int64_t i = 0; i < count; ++i)
                arrays.out(0)[at[k]] += arrays.in(0)[i] * arrays.in(1 + k)[i];
    };
}

} // namespace

void add_weighted_sum(Kinds& kinds) {
    kinds["weighted_sum"] = weighted_sum;
    kinds["weighted_sum_gradient"] = weighted_sum_gradient;
    kinds["weighted_sum_weight_gradient"] = weighted_sum_weight_gradient;
}

} // namespace espalier::reference
