// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/lowering/lowering.h"

#include <algorithm>
#include <cmath>

namespace espalier::cpu {

namespace {

/// A row-major tensor cut along one axis: `outer` x `extent` x `inner`.
struct Axis {
    std::int64_t outer = 1, extent = 1, inner = 1;

    explicit Axis(const Context& c) {
        const Shape& shape = c.output(0).shape;
        std::int64_t axis = c.op.attributes.integer("axis", 1);
        if (axis < 0) {
            axis += static_cast<std::int64_t>(shape.rank());
        }
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.rank()); ++i) {
            const std::int64_t size = shape[static_cast<std::size_t>(i)];
            (i < axis ? outer : i == axis ? extent : inner) *= size;
        }
    }

    /// body(address of the first element of a row, relative to the tensor)
    template <class Row>
    void for_each_row(const Row& body) const {
        for (std::int64_t o = 0; o < outer; ++o) {
            for (std::int64_t i = 0; i < inner; ++i) {
                body(o * extent * inner + i);
            }
        }
    }
};

Lowered lower_softmax(const Context& c) {
    Lowered result = c.plain();
    result.kernel = loop_kernel(c, "softmax", [axis = Axis(c)](const Arguments& a) {
        axis.for_each_row([&](std::int64_t at) {
            const float* x = a.in(0) + at;
            float* y = a.out(0) + at;
            float highest = x[0];
            for (std::int64_t i = 1; i < axis.extent; ++i) {
                highest = std::max(highest, x[i * axis.inner]);
            }
            double sum = 0.0;
            for (std::int64_t i = 0; i < axis.extent; ++i) {
                sum += std::exp(static_cast<double>(x[i * axis.inner]) - static_cast<double>(highest));
            }
            for (std::int64_t i = 0; i < axis.extent; ++i) {
                const double e = std::exp(static_cast<double>(x[i * axis.inner]) - static_cast<double>(highest));
                y[i * axis.inner] = static_cast<float>(e / sum);
            }
        });
    });
    return result;
}

Lowered lower_softmax_gradient(const Context& c) {
    Lowered result = c.plain();
    result.kernel = loop_kernel(c, "softmax gradient", [axis = Axis(c)](const Arguments& a) {
        axis.for_each_row([&](std::int64_t at) {
            const float* y = a.in(0) + at;
            const float* gy = a.in(1) + at;
            double dot = 0.0;
            for (std::int64_t i = 0; i < axis.extent; ++i) {
                dot += static_cast<double>(y[i * axis.inner]) * static_cast<double>(gy[i * axis.inner]);
            }
            for (std::int64_t i = 0; i < axis.extent; ++i) {
                const double g = static_cast<double>(gy[i * axis.inner]) - dot;
                a.out(0)[at + i * axis.inner] = static_cast<float>(static_cast<double>(y[i * axis.inner]) * g);
            }
        });
    });
    return result;
}

} // namespace

void add_softmax(LoweringTable& table) {
    table["softmax"] = {lower_softmax, {}};
    table["softmax_gradient"] = {lower_softmax_gradient, {}};
}

} // namespace espalier::cpu
