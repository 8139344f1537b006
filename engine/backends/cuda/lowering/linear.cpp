// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/linear.h"

#include "backends/cuda/lowering/lowering.h"

namespace espalier::cuda {
namespace {

/// What the three products are told of their tensors.
struct Sizes {
    DType first, second, result;
    std::int64_t rows, in, out;
};

Lowered lower_linear(const Context& c) { // x, w, bias? -> y
    Lowered result = c.plain();
    const Sizes s{c.input(0).type,     c.input(1).type,     c.output(0).type,
                  c.input(0).shape[0], c.input(0).shape[1], c.input(1).shape[0]};
    result.kernel = launch_kernel(c, "linear", [s](const Arguments& a) {
        launch_linear({a.in(0), s.first}, {a.in(1), s.second}, a.in_f32(2), {a.out(0), s.result}, s.rows, s.in, s.out,
                      a.stream);
    });
    return result;
}

Lowered lower_linear_input_gradient(const Context& c) { // gy, w -> gx
    Lowered result = c.plain();
    const Sizes s{c.input(0).type,     c.input(1).type,     c.output(0).type,
                  c.input(0).shape[0], c.input(1).shape[1], c.input(0).shape[1]};
    result.kernel = launch_kernel(c, "linear input gradient", [s](const Arguments& a) {
        launch_linear_input_gradient({a.in(0), s.first}, {a.in(1), s.second}, {a.out(0), s.result}, s.rows, s.in, s.out,
                                     a.stream);
    });
    return result;
}

Lowered lower_linear_weight_gradient(const Context& c) { // x, gy -> gw
    Lowered result = c.plain();
    const Sizes s{c.input(0).type,     c.input(1).type,     c.output(0).type,
                  c.input(0).shape[0], c.input(0).shape[1], c.input(1).shape[1]};
    result.kernel = launch_kernel(c, "linear weight gradient", [s](const Arguments& a) {
        launch_linear_weight_gradient({a.in(0), s.first}, {a.in(1), s.second}, {a.out(0), s.result}, s.rows, s.in,
                                      s.out, a.stream);
    });
    return result;
}

Support supports_linear(const Context& c) {
    if (c.op.kind == "linear" && c.has_input(2) && c.input(2).type != DType::f32)
        return Support::no("the bias of a linear layer must be f32");
    return {};
}

} // namespace

void add_linear(LoweringTable& table) {
    table["linear"] = {lower_linear, supports_linear};
    table["linear_input_gradient"] = {lower_linear_input_gradient, {}};
    table["linear_weight_gradient"] = {lower_linear_weight_gradient, {}};
}

} // namespace espalier::cuda
