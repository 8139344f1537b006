// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/convolution.h"

#include "backends/reference/family.h"

#include <algorithm>

namespace espalier::reference {
namespace {

/// A convolution's shapes: x [N,C,H,W] * w [K,C/g,R,S] -> y [N,K,P,Q]. Everything else is one of the three as the
/// unknown: a transposed convolution computes the x of the convolution that reads its output and writes its input.
struct Problem {
    Convolution convolution;
    Image x;
    Image w;
    Image y;
};

/// Calls visit(x, w, y) with the places of the factors and of the sum of every multiply-add.
template <class Visit>
void for_each_product(const Problem& problem, Visit visit) {
    const auto& [convolution, x, w, y] = problem;
    const auto [stride, padding, dilation] = std::tuple(convolution.stride, convolution.padding, convolution.dilation);
    const auto filters_of_group = w.n / convolution.groups;
    for (std::int64_t n = 0; n < y.n; ++n)
        for (std::int64_t k = 0; k < y.c; ++k)
            for (std::int64_t c = 0; c < w.c; ++c) {
                const auto channel = k / filters_of_group * w.c + c;
                for (std::int64_t r = 0; r < w.h; ++r)
                    for (std::int64_t s = 0; s < w.w; ++s)
                        for (std::int64_t p = 0; p < y.h; ++p)
                            for (std::int64_t q = 0; q < y.w; ++q) {
                                const auto h = p * stride[0] - padding[0] + r * dilation[0];
                                const auto v = q * stride[1] - padding[1] + s * dilation[1];
                                if (x.inside(h, v))
                                    visit(x.at(n, channel, h, v), w.at(k, c, r, s), y.at(n, k, p, q));
                            }
            }
}

/// y[n,c,...] = bias[c], or zero without one.
void fill_with_bias(double* y, const Image& shape, const double* bias) {
    for (std::int64_t n = 0; n < shape.n; ++n)
        for (std::int64_t c = 0; c < shape.c; ++c)
            std::fill_n(y + shape.at(n, c, 0, 0), shape.h * shape.w, bias ? bias[c] : 0.0);
}

Compute conv2d(const Graph& graph, const Op& op) {
    const Problem problem{Convolution::from(op.attributes), Image(input_shape(graph, op, 0)),
                          Image(input_shape(graph, op, 1)), Image(output_shape(graph, op, 0))};
    return [problem](const Arrays& arrays) {
        const auto *x = arrays.in(0), *w = arrays.in(1);
        auto* y = arrays.out(0);
        fill_with_bias(y, problem.y, arrays.in(2));
        for_each_product(problem, [=](auto xi, auto wi, auto yi) { y[yi] += x[xi] * w[wi]; });
        if (problem.convolution.relu)
            std::transform(y, y + problem.y.count(), y, [](double value) { return std::max(value, 0.0); });
    };
}

Compute conv2d_input_gradient(const Graph& graph, const Op& op) {
    const Problem problem{Convolution::from(op.attributes), Image(output_shape(graph, op, 0)),
                          Image(input_shape(graph, op, 1)), Image(input_shape(graph, op, 0))};
    return [problem](const Arrays& arrays) {
        const auto *gy = arrays.in(0), *w = arrays.in(1);
        auto* gx = arrays.out(0);
        std::fill_n(gx, problem.x.count(), 0.0);
        for_each_product(problem, [=](auto xi, auto wi, auto yi) { gx[xi] += gy[yi] * w[wi]; });
    };
}

Compute conv2d_weight_gradient(const Graph& graph, const Op& op) {
    const Problem problem{Convolution::from(op.attributes), Image(input_shape(graph, op, 0)),
                          Image(output_shape(graph, op, 0)), Image(input_shape(graph, op, 1))};
    return [problem](const Arrays& arrays) {
        const auto *x = arrays.in(0), *gy = arrays.in(1);
        auto* gw = arrays.out(0);
        std::fill_n(gw, problem.w.count(), 0.0);
        for_each_product(problem, [=](auto xi, auto wi, auto yi) { gw[wi] += x[xi] * gy[yi]; });
    };
}

Compute conv_transpose2d(const Graph& graph, const Op& op) {
    const Problem problem{Convolution::from(op.attributes), Image(output_shape(graph, op, 0)),
                          Image(input_shape(graph, op, 1)), Image(input_shape(graph, op, 0))};
    return [problem](const Arrays& arrays) {
        const auto *x = arrays.in(0), *w = arrays.in(1);
        auto* y = arrays.out(0);
        fill_with_bias(y, problem.x, arrays.in(2));
        for_each_product(problem, [=](auto yi, auto wi, auto xi) { y[yi] += x[xi] * w[wi]; });
    };
}

/// Sum over everything but axis 1.
Compute channel_sum(const Graph& graph, const Op& op) {
    const AxisView x(input_shape(graph, op, 0), 1);
    return [x](const Arrays& arrays) {
        auto* y = arrays.out(0);
        std::fill_n(y, x.length, 0.0);
        for (std::int64_t n = 0; n < x.outer; ++n)
            for (std::int64_t c = 0; c < x.length; ++c)
                for (std::int64_t i = 0; i < x.inner; ++i)
                    y[c] += arrays.in(0)[x.at(n, c, i)];
    };
}

} // namespace

void add_convolution(Kinds& kinds) {
    kinds["conv2d"] = conv2d;
    kinds["conv2d_input_gradient"] = conv2d_input_gradient;
    kinds["conv2d_weight_gradient"] = conv2d_weight_gradient;
    kinds["conv_transpose2d"] = conv_transpose2d;
    kinds["channel_sum"] = channel_sum;
}

} // namespace espalier::reference
