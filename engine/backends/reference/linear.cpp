// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/family.h"

#include <algorithm>

namespace espalier::reference {
namespace {

/// x [N,I] and w [O,I] give y [N,O].
struct Sizes {
    std::int64_t n, in, out;
    Sizes(const Shape& x, const Shape& w) : n(x[0]), in(w[1]), out(w[0]) {}
};

Compute linear(const Graph& graph, const Op& op) {
    const Sizes size(input_shape(graph, op, 0), input_shape(graph, op, 1));
    return [size](const Arrays& arrays) {
        const auto *x = arrays.in(0), *w = arrays.in(1), *bias = arrays.in(2);
        for (std::int64_t n = 0; n < size.n; ++n)
            for (std::int64_t o = 0; o < size.out; ++o) {
                double sum = bias ? bias[o] : 0.0;
                for (std::int64_t i = 0; i < size.in; ++i)
                    sum += x[n * size.in + i] * w[o * size.in + i];
                arrays.out(0)[n * size.out + o] = sum;
            }
    };
}

Compute linear_input_gradient(const Graph& graph, const Op& op) {
    const Sizes size(input_shape(graph, op, 0), input_shape(graph, op, 1));
    return [size](const Arrays& arrays) {
        const auto *gy = arrays.in(0), *w = arrays.in(1);
        auto* gx = arrays.out(0);
        std::fill_n(gx, size.n * size.in, 0.0);
        for (std::int64_t n = 0; n < size.n; ++n)
            for (std::int64_t o = 0; o < size.out; ++o)
                for (std::int64_t i = 0; i < size.in; ++i)
                    gx[n * size.in + i] += gy[n * size.out + o] * w[o * size.in + i];
    };
}

Compute linear_weight_gradient(const Graph& graph, const Op& op) {
    const Sizes size(input_shape(graph, op, 0), output_shape(graph, op, 0));
    return [size](const Arrays& arrays) {
        const auto *x = arrays.in(0), *gy = arrays.in(1);
        auto* gw = arrays.out(0);
        std::fill_n(gw, size.out * size.in, 0.0);
        for (std::int64_t n = 0; n < size.n; ++n)
            for (std::int64_t o = 0; o < size.out; ++o)
                for (std::int64_t i = 0; i < size.in; ++i)
                    gw[o * size.in + i] += gy[n * size.out + o] * x[n * size.in + i];
    };
}

} // namespace

void add_linear(Kinds& kinds) {
    kinds["linear"] = linear;
    kinds["linear_input_gradient"] = linear_input_gradient;
    kinds["linear_weight_gradient"] = linear_weight_gradient;
}

} // namespace espalier::reference
