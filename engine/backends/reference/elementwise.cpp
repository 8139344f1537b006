// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/family.h"
#include "backends/reference/rounding.h"
#include "graph/ops/arguments.h"

#include <algorithm>

namespace espalier::reference {
namespace {

Compute add(const Graph& graph, const Op& op) {
    const auto count = input_shape(graph, op, 0).count();
    const auto relu = reads_relu(op.attributes);
    return [=](const Arrays& arrays) {
        for (std::int64_t i = 0; i < count; ++i) {
            double sum = 0;
            for (std::size_t k = 0; k < arrays.input_count(); ++k)
                sum += arrays.in(k)[i];
            arrays.out(0)[i] = relu ? std::max(sum, 0.0) : sum;
        }
    };
}

Compute scale(const Graph& graph, const Op& op) {
    const auto count = input_shape(graph, op, 0).count();
    return [count](const Arrays& arrays) {
        for (std::int64_t i = 0; i < count; ++i)
            arrays.out(0)[i] = arrays.in(1)[0] * arrays.in(0)[i];
    };
}

Compute dot(const Graph& graph, const Op& op) {
    const auto count = input_shape(graph, op, 0).count();
    return [count](const Arrays& arrays) {
        double sum = 0;
        for (std::int64_t i = 0; i < count; ++i)
            sum += arrays.in(0)[i] * arrays.in(1)[i];
        arrays.out(0)[0] = sum;
    };
}

Compute cast(const Graph& graph, const Op& op) {
    std::vector<std::int64_t> counts;
    for (const auto input : op.inputs)
        counts.push_back(graph.shape(input).count());
    const auto type = graph.tensor(op.outputs[0]).type;
    return [counts, type](const Arrays& arrays) {
        for (std::size_t k = 0; k < counts.size(); ++k)
            for (std::int64_t i = 0; i < counts[k]; ++i)
                arrays.out(k)[i] = rounded(arrays.in(k)[i], type);
    };
}

Compute constant(const Graph& graph, const Op& op) {
    const auto count = output_shape(graph, op, 0).count();
    const auto value = op.attributes.real("value");
    return [=](const Arrays& arrays) { std::fill_n(arrays.out(0), count, value); };
}

} // namespace

void add_elementwise(Kinds& kinds) {
    kinds["add"] = add;
    kinds["scale"] = scale;
    kinds["dot"] = dot;
    kinds["cast"] = cast;
    kinds["constant"] = constant;
}

} // namespace espalier::reference
