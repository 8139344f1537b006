// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/lowering/lowering.h"

#include <algorithm>

namespace espalier::cpu {

namespace {

/// Inputs [first, last) and all outputs in one layout.
Lowered in_common_layout(const Context& c, std::size_t first, std::size_t last, const Layout& layout) {
    Lowered result = c.plain();
    for (std::size_t i = first; i < last; ++i) {
        result.inputs[i] = layout;
    }
    return result;
}

Lowered lower_relu(const Context& c) {
    const Layout layout = c.common(0, 1);
    Lowered result = in_common_layout(c, 0, 1, layout);
    result.outputs[0] = layout;
    result.in_place = {{0, 0}};
    result.kernel = loop_kernel(c, "relu", [&k = c.kernels, n = floats_of(layout), t = c.threads](const Arguments& a) {
        k.relu(a.in(0), a.out(0), n, t);
    });
    return result;
}

Lowered lower_relu_gradient(const Context& c) {
    const Layout layout = c.common(0, 2);
    Lowered result = in_common_layout(c, 0, 2, layout);
    result.outputs[0] = layout;
    result.in_place = {{0, 1}, {0, 0}};
    result.kernel =
        loop_kernel(c, "relu gradient", [&k = c.kernels, n = floats_of(layout), t = c.threads](const Arguments& a) {
            k.relu_gradient(a.in(0), a.in(1), a.out(0), n, t);
        });
    return result;
}

Lowered lower_add(const Context& c) {
    const std::size_t inputs = c.op.inputs.size();
    const Layout layout = c.common(0, inputs);
    Lowered result = in_common_layout(c, 0, inputs, layout);
    result.outputs[0] = layout;
    // Only the first two are read before anything is written.
    for (std::size_t i = 0; i < inputs && i < 2; ++i) {
        result.in_place.emplace_back(0, i);
    }
    const bool relu = c.op.attributes.text("activation") == "relu";
    result.kernel =
        loop_kernel(c, "add", [&k = c.kernels, n = floats_of(layout), t = c.threads, inputs, relu](const Arguments& a) {
            k.add(reinterpret_cast<const float* const*>(a.inputs.data()), static_cast<int>(inputs), a.out(0), relu, n,
                  t);
        });
    return result;
}

Lowered lower_scale(const Context& c) {
    const Layout layout = c.common(0, 1);
    Lowered result = in_common_layout(c, 0, 1, layout);
    result.outputs[0] = layout;
    result.in_place = {{0, 0}};
    result.kernel = loop_kernel(c, "scale", [&k = c.kernels, n = floats_of(layout), t = c.threads](const Arguments& a) {
        k.scale(a.in(0), a.in(1), a.out(0), n, t);
    });
    return result;
}

Lowered lower_dot(const Context& c) {
    const Layout layout = c.common(0, 2);
    Lowered result = in_common_layout(c, 0, 2, layout);
    const std::int64_t n = floats_of(layout);
    result.workspace = static_cast<std::size_t>(dot_partials(n)) * sizeof(double);
    result.kernel = loop_kernel(c, "dot", [&k = c.kernels, n, t = c.threads](const Arguments& a) {
        const float* b = a.in(1);
        double sum = 0.0;
        k.dots(a.in(0), &b, 1, a.scratch<double>(), &sum, n, t);
        *a.out(0) = static_cast<float>(sum);
    });
    return result;
}

/// Where the weights of the list stand in the flat table.
std::vector<std::int64_t> places(const Context& c, const Shape& table) {
    std::vector<std::int64_t> result = c.op.attributes.integers("columns");
    for (std::int64_t& column : result) {
        column += c.op.attributes.integer("row") * table[1];
    }
    return result;
}

Lowered lower_weighted_sum(const Context& c) {
    const std::size_t inputs = c.op.inputs.size();
    const Layout layout = c.common(1, inputs);
    Lowered result = in_common_layout(c, 1, inputs, layout);
    result.outputs[0] = layout;
    result.in_place = {{0, 1}};
    result.kernel =
        loop_kernel(c, "weighted sum",
                    [&k = c.kernels, n = floats_of(layout), t = c.threads, inputs,
                     columns = places(c, c.input(0).shape)](const Arguments& a) {
                        const auto* x = reinterpret_cast<const float* const*>(a.inputs.data() + 1);
                        k.weighted_sum(a.in(0), columns.data(), x, static_cast<int>(inputs - 1), a.out(0), n, t);
                    });
    return result;
}

Lowered lower_weighted_sum_gradient(const Context& c) {
    const Layout layout = c.common(1, 2);
    Lowered result = in_common_layout(c, 1, 2, layout);
    for (std::size_t i = 0; i < c.op.outputs.size(); ++i) {
        if (c.has_output(i)) {
            result.outputs[i] = layout;
        }
    }
    result.kernel = loop_kernel(c, "weighted sum gradient",
                                [&k = c.kernels, n = floats_of(layout), t = c.threads,
                                 columns = places(c, c.input(0).shape)](const Arguments& a) {
                                    k.weighted_sum_gradient(a.in(0), columns.data(), a.in(1),
                                                            reinterpret_cast<float* const*>(a.outputs.data()),
                                                            static_cast<int>(a.outputs.size()), n, t);
                                });
    return result;
}

Lowered lower_weighted_sum_weight_gradient(const Context& c) {
    const std::size_t inputs = c.op.inputs.size();
    const Layout layout = c.common(0, inputs);
    Lowered result = in_common_layout(c, 0, inputs, layout);
    const std::int64_t n = floats_of(layout);
    const std::size_t partials = static_cast<std::size_t>(dot_partials(n)) * (inputs - 1) * sizeof(double);
    result.workspace = partials + (inputs - 1) * sizeof(double);
    const Shape table = c.output(0).shape;
    result.kernel = loop_kernel(c, "weighted sum weight gradient",
                                [&k = c.kernels, n, t = c.threads, inputs, partials, count = table.count(),
                                 columns = places(c, table)](const Arguments& a) {
                                    const auto sums = a.scratch<double>(partials);
                                    k.dots(a.in(0), reinterpret_cast<const float* const*>(a.inputs.data() + 1),
                                           static_cast<int>(inputs - 1), a.scratch<double>(), sums, n, t);
                                    std::fill(a.out(0), a.out(0) + count, 0.0f);
                                    for (std::size_t i = 0; i + 1 < inputs; ++i) {
                                        a.out(0)[columns[i]] = static_cast<float>(sums[i]);
                                    }
                                });
    return result;
}

Lowered lower_constant(const Context& c) {
    Lowered result = c.plain();
    const auto value = static_cast<float>(c.op.attributes.real("value"));
    result.kernel = loop_kernel(c, "constant", [value, n = c.output(0).shape.count()](const Arguments& a) {
        std::fill(a.out(0), a.out(0) + n, value);
    });
    return result;
}

Lowered lower_channel_sum(const Context& c) {
    Lowered result = c.plain();
    const Tensor& x = c.input(0);
    ActivationShape shape;
    if (x.shape.rank() == 4) {
        result.inputs[0] = c.activation(x, c.given(0));
        shape = activation_shape(x.shape, result.inputs[0]);
    } else { // [N, C, ...]: a row of C is channels last with one pixel; longer tails are planes of one channel
        const std::int64_t tail = x.shape.count() / (x.shape[0] * x.shape[1]);
        shape = {x.shape[0], x.shape[1], tail, 1, tail == 1 ? x.shape[1] : 1};
    }
    result.workspace = static_cast<std::size_t>(shape.n * shape.padded_channels()) * sizeof(double);
    result.kernel = loop_kernel(c, "channel sum", [&k = c.kernels, shape, t = c.threads](const Arguments& a) {
        k.channel_sum(shape, a.in(0), a.out(0), a.scratch<double>(), t);
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
    table["weighted_sum"] = {lower_weighted_sum, {}};
    table["weighted_sum_gradient"] = {lower_weighted_sum_gradient, {}};
    table["weighted_sum_weight_gradient"] = {lower_weighted_sum_weight_gradient, {}};
    table["constant"] = {lower_constant, {}};
    table["channel_sum"] = {lower_channel_sum, {}};
}

} // namespace espalier::cpu
