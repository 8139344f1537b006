// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/lowering/lowering.h"

namespace espalier::cpu {

namespace {

Lowered lower_linear(const Context& c) {
    Lowered result = c.plain();
    const Shape& x = c.input(0).shape;
    result.kernel =
        loop_kernel(c, "linear",
                    [&k = c.kernels, rows = x[0], in = x[1], out = c.input(1).shape[0], t = c.threads](
                        const Arguments& a) { k.linear(a.in(0), a.in(1), a.in(2), a.out(0), rows, in, out, t); });
    return result;
}

Lowered lower_linear_input_gradient(const Context& c) {
    Lowered result = c.plain();
    const Shape& gy = c.input(0).shape;
    result.kernel =
        loop_kernel(c, "linear input gradient",
                    [&k = c.kernels, rows = gy[0], in = c.input(1).shape[1], out = gy[1], t = c.threads](
                        const Arguments& a) { k.linear_input_gradient(a.in(0), a.in(1), a.out(0), rows, in, out, t); });
    return result;
}

Lowered lower_linear_weight_gradient(const Context& c) {
    Lowered result = c.plain();
    const Shape& x = c.input(0).shape;
    result.kernel = loop_kernel(
        c, "linear weight gradient",
        [&k = c.kernels, rows = x[0], in = x[1], out = c.input(1).shape[1], t = c.threads](const Arguments& a) {
            k.linear_weight_gradient(a.in(0), a.in(1), a.out(0), rows, in, out, t);
        });
    return result;
}

} // namespace

void add_linear(LoweringTable& table) {
    table["linear"] = {lower_linear, {}};
    table["linear_input_gradient"] = {lower_linear_input_gradient, {}};
    table["linear_weight_gradient"] = {lower_linear_weight_gradient, {}};
}

} // namespace espalier::cpu
