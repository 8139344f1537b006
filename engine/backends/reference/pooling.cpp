// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/pooling.h"

#include "backends/reference/family.h"

#include <algorithm>
#include <limits>

namespace espalier::reference {
namespace {

/// Windows of x [N,C,H,W] that make y [N,C,P,Q].
struct Windows {
    Pooling pooling;
    Image x;
    Image y;
};

/// Calls visit(y's place, n, c, top, left) for every window; it begins at (top, left), which may lie in the padding.
template <class Visit>
void for_each_window(const Windows& windows, Visit visit) {
    const auto& y = windows.y;
    for (std::int64_t n = 0; n < y.n; ++n)
        for (std::int64_t c = 0; c < y.c; ++c)
            for (std::int64_t p = 0; p < y.h; ++p)
                for (std::int64_t q = 0; q < y.w; ++q)
                    visit(y.at(n, c, p, q), n, c, p * windows.pooling.stride[0] - windows.pooling.padding[0],
                          q * windows.pooling.stride[1] - windows.pooling.padding[1]);
}

Compute max_pool2d(const Graph& graph, const Op& op) {
    const Windows windows{Pooling::from(op.attributes), Image(input_shape(graph, op, 0)),
                          Image(output_shape(graph, op, 0))};
    return [windows](const Arrays& arrays) {
        const auto& [pooling, shape, _] = windows;
        const auto* x = arrays.in(0);
        auto* argmax = arrays.out<std::uint8_t>(1);
        for_each_window(windows, [&](auto at, auto n, auto c, auto top, auto left) {
            auto best = -std::numeric_limits<double>::infinity();
            std::int64_t place = -1;
            for (std::int64_t r = 0; r < pooling.kernel[0]; ++r)
                for (std::int64_t s = 0; s < pooling.kernel[1]; ++s) {
                    if (!shape.inside(top + r, left + s))
                        continue;
                    const auto value = x[shape.at(n, c, top + r, left + s)];
                    // The first of equals; a NaN wins, so that it is seen.
                    if (place < 0 || value > best || value != value) {
                        best = value;
                        place = r * pooling.kernel[1] + s;
                    }
                }
            arrays.out(0)[at] = best;
            if (argmax)
                argmax[at] = static_cast<std::uint8_t>(place);
        });
    };
}

Compute max_pool2d_gradient(const Graph& graph, const Op& op) {
    const Windows windows{Pooling::from(op.attributes), Image(output_shape(graph, op, 0)),
                          Image(input_shape(graph, op, 0))};
    return [windows](const Arrays& arrays) {
        const auto& [pooling, shape, _] = windows;
        const auto* argmax = arrays.in<std::uint8_t>(1);
        std::fill_n(arrays.out(0), shape.count(), 0.0);
        for_each_window(windows, [&](auto at, auto n, auto c, auto top, auto left) {
            const auto r = argmax[at] / pooling.kernel[1], s = argmax[at] % pooling.kernel[1];
            arrays.out(0)[shape.at(n, c, top + r, left + s)] += arrays.in(0)[at];
        });
    };
}

/// By how much the sum of a window is divided.
double divisor(const Windows& windows, std::int64_t top, std::int64_t left) {
    const auto& [pooling, x, _] = windows;
    if (pooling.count_include_pad)
        return static_cast<double>(pooling.kernel[0] * pooling.kernel[1]);
    const auto rows = std::min(top + pooling.kernel[0], x.h) - std::max<std::int64_t>(top, 0);
    const auto columns = std::min(left + pooling.kernel[1], x.w) - std::max<std::int64_t>(left, 0);
    return static_cast<double>(rows * columns);
}

/// Calls visit(x's place) for every place of the window that lies inside.
template <class Visit>
void for_each_place(const Windows& windows, std::int64_t n, std::int64_t c, std::int64_t top, std::int64_t left,
                    Visit visit) {
    for (std::int64_t h = top; h < top + windows.pooling.kernel[0]; ++h)
        for (std::int64_t w = left; w < left + windows.pooling.kernel[1]; ++w)
            if (windows.x.inside(h, w))
                visit(windows.x.at(n, c, h, w));
}

Compute avg_pool2d(const Graph& graph, const Op& op) {
    const Windows windows{Pooling::from(op.attributes), Image(input_shape(graph, op, 0)),
                          Image(output_shape(graph, op, 0))};
    return [windows](const Arrays& arrays) {
        for_each_window(windows, [&](auto at, auto n, auto c, auto top, auto left) {
            double sum = 0;
            for_each_place(windows, n, c, top, left, [&](auto place) { sum += arrays.in(0)[place]; });
            arrays.out(0)[at] = sum / divisor(windows, top, left);
        });
    };
}

Compute avg_pool2d_gradient(const Graph& graph, const Op& op) {
    const Windows windows{Pooling::from(op.attributes), Image(output_shape(graph, op, 0)),
                          Image(input_shape(graph, op, 0))};
    return [windows](const Arrays& arrays) {
        std::fill_n(arrays.out(0), windows.x.count(), 0.0);
        for_each_window(windows, [&](auto at, auto n, auto c, auto top, auto left) {
            const auto share = arrays.in(0)[at] / divisor(windows, top, left);
            for_each_place(windows, n, c, top, left, [&](auto place) { arrays.out(0)[place] += share; });
        });
    };
}

Compute global_avg_pool(const Graph& graph, const Op& op) {
    const Image x(input_shape(graph, op, 0));
    return [x](const Arrays& arrays) {
        for (std::int64_t i = 0; i < x.n * x.c; ++i) {
            double sum = 0;
            for (std::int64_t k = 0; k < x.h * x.w; ++k)
                sum += arrays.in(0)[i * x.h * x.w + k];
            arrays.out(0)[i] = sum / static_cast<double>(x.h * x.w);
        }
    };
}

Compute global_avg_pool_gradient(const Graph& graph, const Op& op) {
    const Image x(output_shape(graph, op, 0));
    return [x](const Arrays& arrays) {
        for (std::int64_t i = 0; i < x.n * x.c; ++i)
            std::fill_n(arrays.out(0) + i * x.h * x.w, x.h * x.w, arrays.in(0)[i] / static_cast<double>(x.h * x.w));
    };
}

} // namespace

void add_pooling(Kinds& kinds) {
    kinds["max_pool2d"] = max_pool2d;
    kinds["max_pool2d_gradient"] = max_pool2d_gradient;
    kinds["avg_pool2d"] = avg_pool2d;
    kinds["avg_pool2d_gradient"] = avg_pool2d_gradient;
    kinds["global_avg_pool"] = global_avg_pool;
    kinds["global_avg_pool_gradient"] = global_avg_pool_gradient;
}

} // namespace espalier::reference
