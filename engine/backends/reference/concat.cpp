// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/family.h"
#include "graph/ops/arguments.h"

#include <algorithm>
#include <vector>

namespace espalier::reference {
namespace {

std::size_t axis_of(const Op& op) { return static_cast<std::size_t>(op.attributes.integer("axis", 1)); }

Compute concat(const Graph& graph, const Op& op) {
    const AxisView y(output_shape(graph, op, 0), axis_of(op));
    std::vector<AxisView> parts;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
        parts.emplace_back(input_shape(graph, op, i), axis_of(op));
    return [=](const Arrays& arrays) {
        std::int64_t begin = 0;
        for (std::size_t k = 0; k < parts.size(); ++k) {
            for (std::int64_t o = 0; o < y.outer; ++o)
                std::copy_n(arrays.in(k) + parts[k].at(o, 0, 0), parts[k].length * y.inner,
                            arrays.out(0) + y.at(o, begin, 0));
            begin += parts[k].length;
        }
    };
}

Compute reshape(const Graph& graph, const Op& op) {
    const auto count = output_shape(graph, op, 0).count();
    return [=](const Arrays& arrays) { std::copy_n(arrays.in(0), count, arrays.out(0)); };
}

Compute slice(const Graph& graph, const Op& op) {
    const AxisView x(input_shape(graph, op, 0), axis_of(op)), y(output_shape(graph, op, 0), axis_of(op));
    const auto begin = op.attributes.integer("begin");
    return [=](const Arrays& arrays) {
        for (std::int64_t o = 0; o < x.outer; ++o)
            std::copy_n(arrays.in(0) + x.at(o, begin, 0), y.length * y.inner, arrays.out(0) + y.at(o, 0, 0));
    };
}

Compute slice_gradient(const Graph& graph, const Op& op) {
    const AxisView gy(input_shape(graph, op, 0), axis_of(op)), gx(output_shape(graph, op, 0), axis_of(op));
    const auto begin = op.attributes.integer("begin");
    return [=](const Arrays& arrays) {
        std::fill_n(arrays.out(0), gx.outer * gx.length * gx.inner, 0.0);
        for (std::int64_t o = 0; o < gx.outer; ++o)
            std::copy_n(arrays.in(0) + gy.at(o, 0, 0), gy.length * gy.inner, arrays.out(0) + gx.at(o, begin, 0));
    };
}

/// Calls visit(x's place or -1 beyond the edge, y's place) for y[n,c,p,q] = x[n,c,p*stride+offset,q*stride+offset].
template <class Visit>
void for_each_shifted(const Image& x, const Image& y, Pair stride, Pair offset, Visit visit) {
    for (std::int64_t n = 0; n < y.n; ++n)
        for (std::int64_t c = 0; c < y.c; ++c)
            for (std::int64_t p = 0; p < y.h; ++p)
                for (std::int64_t q = 0; q < y.w; ++q) {
                    const auto h = p * stride[0] + offset[0], w = q * stride[1] + offset[1];
                    visit(x.inside(h, w) ? x.at(n, c, h, w) : -1, y.at(n, c, p, q));
                }
}

Compute shifted_slice(const Graph& graph, const Op& op) {
    const Image x(input_shape(graph, op, 0)), y(output_shape(graph, op, 0));
    const auto stride = read_pair(op.attributes, "stride", {1, 1}), offset = read_pair(op.attributes, "offset", {0, 0});
    return [=](const Arrays& arrays) {
        for_each_shifted(x, y, stride, offset,
                         [&](auto xi, auto yi) { arrays.out(0)[yi] = xi < 0 ? 0.0 : arrays.in(0)[xi]; });
    };
}

Compute shifted_slice_gradient(const Graph& graph, const Op& op) {
    const Image x(output_shape(graph, op, 0)), y(input_shape(graph, op, 0));
    const auto stride = read_pair(op.attributes, "stride", {1, 1}), offset = read_pair(op.attributes, "offset", {0, 0});
    return [=](const Arrays& arrays) {
        std::fill_n(arrays.out(0), x.count(), 0.0);
        for_each_shifted(x, y, stride, offset, [&](auto xi, auto yi) {
            if (xi >= 0)
                arrays.out(0)[xi] = arrays.in(0)[yi];
        });
    };
}

} // namespace

void add_concat(Kinds& kinds) {
    kinds["concat"] = concat;
    kinds["reshape"] = reshape;
    kinds["slice"] = slice;
    kinds["slice_gradient"] = slice_gradient;
    kinds["shifted_slice"] = shifted_slice;
    kinds["shifted_slice_gradient"] = shifted_slice_gradient;
}

} // namespace espalier::reference
