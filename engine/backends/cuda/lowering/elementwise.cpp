// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/elementwise.h"

#include "backends/cuda/kernels/weighted_sum.h"
#include "backends/cuda/lowering/lowering.h"

#include <algorithm>

namespace espalier::cuda {
namespace {

std::int64_t elements(const Layout& layout) { return description(layout).elements; }

Lowered lower_relu(const Context& c) {
    Lowered result = c.flat(0, 1);
    result.in_place = {{0, 0}};
    result.kernel =
        launch_kernel(c, "relu", [n = elements(result.outputs[0]), type = c.input(0).type](const Arguments& a) {
            launch_relu(a.in(0), a.out(0), n, type, a.stream);
        });
    return result;
}

Lowered lower_relu_gradient(const Context& c) {
    Lowered result = c.flat(0, 2);
    result.in_place = {{0, 1}, {0, 0}};
    result.kernel = launch_kernel(c, "relu gradient",
                                  [n = elements(result.outputs[0]), type = c.input(0).type](const Arguments& a) {
                                      launch_relu_gradient(a.in(0), a.in(1), a.out(0), n, type, a.stream);
                                  });
    return result;
}

Lowered lower_add(const Context& c) {
    Lowered result = c.flat(0, c.op.inputs.size());
    result.in_place = {{0, 0}};
    const bool relu = c.op.attributes.text("activation") == "relu";
    result.kernel =
        launch_kernel(c, "add", [n = elements(result.outputs[0]), type = c.input(0).type, relu](const Arguments& a) {
            // The sum so far is the first summand of the next launch.
            std::vector<const void*> summands{a.in(0)};
            for (std::size_t next = 1; next < a.inputs.size() || next == 1;) {
                const auto end = std::min(a.inputs.size(), next + most_summands - 1);
                summands.resize(1);
                summands.insert(summands.end(), a.inputs.begin() + static_cast<std::ptrdiff_t>(next),
                                a.inputs.begin() + static_cast<std::ptrdiff_t>(end));
                launch_add(summands, a.out(0), relu && end == a.inputs.size(), n, type, a.stream);
                summands[0] = a.out(0);
                next = std::max<std::size_t>(end, 2);
            }
        });
    return result;
}

Lowered lower_scale(const Context& c) {
    Lowered result = c.flat(0, 1);
    result.in_place = {{0, 0}};
    result.kernel =
        launch_kernel(c, "scale", [n = elements(result.outputs[0]), type = c.input(0).type](const Arguments& a) {
            launch_scale(a.in(0), a.in_f32(1), a.out(0), n, type, a.stream);
        });
    return result;
}

/// The weight's gradient of a sum with one candidate. A number is stored as eight, seven of them zero.
Lowered lower_dot(const Context& c) {
    Lowered result = c.flat(0, 2);
    result.outputs[0] = c.plain().outputs[0];
    const auto n = elements(result.inputs[0]);
    result.workspace = static_cast<std::size_t>(weighted_sum_partials(n)) * sizeof(double);
    result.kernel =
        launch_kernel(c, "dot", [n, size = elements(result.outputs[0]), type = c.input(0).type](const Arguments& a) {
            const void* candidate = a.in(1);
            const int place = 0;
            launch_weighted_sum_dots(a.in(0), {&candidate, 1}, a.scratch<double>(), n, type, a.stream);
            launch_weighted_sum_dots_end(a.scratch<double>(), {&place, 1}, a.out_f32(0), size, true, n, a.stream);
        });
    return result;
}

Lowered lower_constant(const Context& c) {
    Lowered result = c.natural();
    const auto& y = description(result.outputs[0]);
    const bool last = y.order == Order::channels_last;
    const auto value = static_cast<float>(c.op.attributes.real("value"));
    const auto channels = last ? y.shape[1] : y.shape.count(), pitch = last ? padded(channels) : y.elements;
    result.kernel = launch_kernel(c, "constant", [=, count = y.elements, type = c.output(0).type](const Arguments& a) {
        launch_constant(a.out(0), value, channels, pitch, count, type, a.stream);
    });
    return result;
}

} // namespace

void add_elementwise(LoweringTable& table) {
    table["relu"] = {lower_relu, {}};
    table["relu_gradient"] = {lower_relu_gradient, {}};
    table["add"] = {lower_add, {}};
    table["scale"] = {lower_scale, {}};
    table["dot"] = {lower_dot, {}};
    table["constant"] = {lower_constant, {}};
}

} // namespace espalier::cuda
