// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/family.h"

#include <algorithm>

namespace espalier::reference {
namespace {

Compute relu(const Graph& graph, const Op& op) {
    const auto count = input_shape(graph, op, 0).count();
    return [count](const Arrays& arrays) {
        for (std::int64_t i = 0; i < count; ++i)
            arrays.out(0)[i] = std::max(arrays.in(0)[i], 0.0);
    };
}

Compute relu_gradient(const Graph& graph, const Op& op) {
    const auto count = input_shape(graph, op, 0).count();
    return [count](const Arrays& arrays) {
        const auto *y = arrays.in(0), *gy = arrays.in(1);
        for (std::int64_t i = 0; i < count; ++i)
            arrays.out(0)[i] = y[i] > 0 ? gy[i] : 0.0;
    };
}

} // namespace

void add_activation(Kinds& kinds) {
    kinds["relu"] = relu;
    kinds["relu_gradient"] = relu_gradient;
}

} // namespace espalier::reference
