// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/softmax.h"

#include <algorithm>
#include <cmath>

namespace espalier::reference {

void softmax_over(const AxisView& view, const double* x, double* y) {
    for (std::int64_t o = 0; o < view.outer; ++o)
        for (std::int64_t k = 0; k < view.inner; ++k) {
            double largest = x[view.at(o, 0, k)];
            for (std::int64_t i = 1; i < view.length; ++i)
                largest = std::max(largest, x[view.at(o, i, k)]);
            double sum = 0;
            for (std::int64_t i = 0; i < view.length; ++i)
                sum += y[view.at(o, i, k)] = std::exp(x[view.at(o, i, k)] - largest);
            for (std::int64_t i = 0; i < view.length; ++i)
                y[view.at(o, i, k)] /= sum;
        }
}

void softmax_gradient_over(const AxisView& view, const double* y, const double* gy, double* gx) {
    for (std::int64_t o = 0; o < view.outer; ++o)
        for (std::int64_t k = 0; k < view.inner; ++k) {
            double sum = 0;
            for (std::int64_t i = 0; i < view.length; ++i)
                sum += y[view.at(o, i, k)] * gy[view.at(o, i, k)];
            for (std::int64_t i = 0; i < view.length; ++i)
                gx[view.at(o, i, k)] = y[view.at(o, i, k)] * (gy[view.at(o, i, k)] - sum);
        }
}

namespace {

AxisView view_of(const Graph& graph, const Op& op) {
    return AxisView(input_shape(graph, op, 0), static_cast<std::size_t>(op.attributes.integer("axis", 1)));
}

Compute softmax(const Graph& graph, const Op& op) {
    return [view = view_of(graph, op)](const Arrays& arrays) { softmax_over(view, arrays.in(0), arrays.out(0)); };
}

Compute softmax_gradient(const Graph& graph, const Op& op) {
    return [view = view_of(graph, op)](const Arrays& arrays) {
        softmax_gradient_over(view, arrays.in(0), arrays.in(1), arrays.out(0));
    };
}

} // namespace

void add_softmax(Kinds& kinds) {
    kinds["softmax"] = softmax;
    kinds["softmax_gradient"] = softmax_gradient;
}

} // namespace espalier::reference
