// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/convolution.h"

#include "base/counted.h"
#include "graph/builder.h"
#include "graph/ops/families.h"

namespace espalier {
namespace {

constexpr std::array<const char*, 2> axis_name{"height", "width"};

/// Checks attributes; the limits that do not depend on shapes.
Convolution read_convolution(const Arguments& arguments) {
    const auto convolution = Convolution::from(arguments.attributes());
    arguments.expect_at_least("stride", convolution.stride, 1);
    arguments.expect_at_least("dilation", convolution.dilation, 1);
    arguments.expect_at_least("padding", convolution.padding, 0);
    arguments.expect_at_least("output_padding", convolution.output_padding, 0);
    arguments.expect_at_least("groups", convolution.groups, 1);
    return convolution;
}

void expect_divisible(const Arguments& arguments, const std::string& what, std::int64_t value, std::int64_t groups) {
    if (value % groups != 0)
        arguments.refuse(what + " must be divisible by groups, but are " + std::to_string(value) + " with groups " +
                         std::to_string(groups) + ".");
}

/// y of conv2d from x and w; also checks that they fit each other.
Shape convolved(const Arguments& arguments, const Convolution& convolution, const Shape& x, const Shape& w) {
    const auto groups = convolution.groups;
    expect_divisible(arguments, "input channels", x[1], groups);
    expect_divisible(arguments, "output channels", w[0], groups);
    if (w[1] * groups != x[1])
        arguments.refuse("w must have " + counted(x[1] / groups, "channel") +
                         " a filter (input channels / groups = " + std::to_string(x[1]) + " / " +
                         std::to_string(groups) + "), but has " + std::to_string(w[1]) + ".");
    std::array<std::int64_t, 2> extent{};
    for (std::size_t axis = 0; axis < 2; ++axis) {
        extent[axis] = convolution_extent(convolution, axis, x[2 + axis], w[2 + axis]);
        if (extent[axis] < 1)
            arguments.refuse("the dilated kernel must not be larger than the padded input, but its " +
                             std::string(axis_name[axis]) + " is " +
                             std::to_string(convolution.dilation[axis] * (w[2 + axis] - 1) + 1) + " and the input's " +
                             std::to_string(x[2 + axis] + 2 * convolution.padding[axis]) + ".");
    }
    return {x[0], w[0], extent[0], extent[1]};
}

/// Gives an x of 2 or 3 dimensions the missing leading ones, of extent 1.
void make_images(GraphBuilder& builder, std::vector<TensorId>& inputs) {
    if (inputs.empty() || inputs[0] == no_tensor)
        return;
    const auto& shape = builder.graph().shape(inputs[0]);
    if (shape.rank() == 2 || shape.rank() == 3)
        inputs[0] = builder.apply_one("reshape", {inputs[0]}, {{"shape", image_shape(shape).vector()}});
}

std::vector<OutputSpec> infer_conv2d(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 3);
    const auto convolution = read_convolution(arguments);
    const auto& w = arguments.shape(1, "w", 4);
    const auto y = convolved(arguments, convolution, arguments.shape(0, "x", 4), w);
    arguments.expect_shape(2, "bias", {w[0]}, true);
    return {{y}};
}

std::vector<OutputSpec> infer_input_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    const auto convolution = read_convolution(arguments);
    const auto x = arguments.shape_attribute("input_shape", 4, 4);
    arguments.expect_shape(0, "gy", convolved(arguments, convolution, x, arguments.shape(1, "w", 4)));
    return {{x}};
}

std::vector<OutputSpec> infer_weight_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    const auto convolution = read_convolution(arguments);
    const auto w = arguments.shape_attribute("weight_shape", 4, 4);
    arguments.expect_shape(1, "gy", convolved(arguments, convolution, arguments.shape(0, "x", 4), w));
    return {{w}};
}

std::vector<OutputSpec> infer_transposed(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 3);
    const auto convolution = read_convolution(arguments);
    const auto& x = arguments.shape(0, "x", 4);
    const auto& w = arguments.shape(1, "w", 4);
    expect_divisible(arguments, "input channels", x[1], convolution.groups);
    if (w[0] != x[1])
        arguments.refuse("w must begin with the input channels, " + std::to_string(x[1]) + ", but begins with " +
                         std::to_string(w[0]) + ".");
    const auto channels = w[1] * convolution.groups;
    std::array<std::int64_t, 2> extent{};
    for (std::size_t axis = 0; axis < 2; ++axis) {
        // An output padding of a whole stride would be a longer input; its gradient would not be a plain conv2d.
        if (convolution.output_padding[axis] >= convolution.stride[axis])
            arguments.refuse("output_padding must be smaller than the stride, " + text_of(convolution.stride) +
                             ", but is " + text_of(convolution.output_padding) + ".");
        extent[axis] = transposed_extent(convolution, axis, x[2 + axis], w[2 + axis]);
        if (extent[axis] < 1)
            arguments.refuse("the output's " + std::string(axis_name[axis]) + " must be at least 1, but is " +
                             std::to_string(extent[axis]) + ": padding " + text_of(convolution.padding) +
                             " is too large.");
    }
    arguments.expect_shape(2, "bias", {channels}, true);
    return {{{x[0], channels, extent[0], extent[1]}}};
}

/// Attributes of an op's gradients: its own, without what belongs to the forward alone.
Attributes gradient_attributes(const Op& op) {
    Attributes attributes = op.attributes;
    attributes.erase("activation");
    attributes.erase("output_padding");
    return attributes;
}

// Weight gradients come before input gradients everywhere: they are the last readers of the stored input, so its memory
// is free before the input's gradient needs some.

std::vector<TensorId> conv2d_gradient(const GradientRequest& request) {
    auto& builder = request.builder;
    const auto x = request.op.inputs[0], w = request.op.inputs[1];
    const auto gy = through_activation(request);
    std::vector<TensorId> gradients(request.op.inputs.size(), no_tensor);
    if (gradients.size() > 2 && request.wanted[2])
        gradients[2] = builder.apply_one("channel_sum", {gy});
    if (request.wanted[1]) {
        auto attributes = gradient_attributes(request.op);
        attributes.set("weight_shape", builder.graph().shape(w).vector());
        gradients[1] = builder.apply_one("conv2d_weight_gradient", {x, gy}, std::move(attributes));
    }
    if (request.wanted[0]) {
        auto attributes = gradient_attributes(request.op);
        attributes.set("input_shape", builder.graph().shape(x).vector());
        gradients[0] = builder.apply_one("conv2d_input_gradient", {gy, w}, std::move(attributes));
    }
    return gradients;
}

std::vector<TensorId> transposed_gradient(const GradientRequest& request) {
    auto& builder = request.builder;
    const auto x = request.op.inputs[0], w = request.op.inputs[1];
    const auto gy = request.output_gradients[0];
    std::vector<TensorId> gradients(request.op.inputs.size(), no_tensor);
    if (gradients.size() > 2 && request.wanted[2])
        gradients[2] = builder.apply_one("channel_sum", {gy});
    if (request.wanted[1]) {
        auto attributes = gradient_attributes(request.op);
        attributes.set("weight_shape", builder.graph().shape(w).vector());
        gradients[1] = builder.apply_one("conv2d_weight_gradient", {gy, x}, std::move(attributes));
    }
    if (request.wanted[0])
        gradients[0] = builder.apply_one("conv2d", {gy, w}, gradient_attributes(request.op));
    return gradients;
}

/// 2 N K P Q (C/g) R S: `outputs` is [N,K,P,Q] and `weights` [K,C/g,R,S] of the convolution, in whichever direction.
Cost multiply_adds(const Shape& outputs, const Shape& weights) {
    return {2.0 * static_cast<double>(outputs[0] * outputs[2] * outputs[3]) * static_cast<double>(weights.count())};
}

} // namespace

Convolution Convolution::from(const Attributes& attributes) {
    return {.stride = read_pair(attributes, "stride", {1, 1}),
            .padding = read_pair(attributes, "padding", {0, 0}),
            .dilation = read_pair(attributes, "dilation", {1, 1}),
            .output_padding = read_pair(attributes, "output_padding", {0, 0}),
            .groups = attributes.integer("groups", 1),
            .relu = reads_relu(attributes)};
}

std::int64_t convolution_extent(const Convolution& convolution, std::size_t axis, std::int64_t input,
                                std::int64_t kernel) {
    const auto span = input + 2 * convolution.padding[axis] - convolution.dilation[axis] * (kernel - 1) - 1;
    return span < 0 ? 0 : span / convolution.stride[axis] + 1;
}

std::int64_t transposed_extent(const Convolution& convolution, std::size_t axis, std::int64_t input,
                               std::int64_t kernel) {
    return (input - 1) * convolution.stride[axis] - 2 * convolution.padding[axis] +
           convolution.dilation[axis] * (kernel - 1) + convolution.output_padding[axis] + 1;
}

void register_convolution(OpRegistry& registry) {
    registry.add(
        {.kind = "conv2d",
         .infer = infer_conv2d,
         .gradient = conv2d_gradient,
         .cost = [](const Graph& graph,
                    const Op& op) { return multiply_adds(graph.shape(op.outputs[0]), graph.shape(op.inputs[1])); },
         .arity = 3,
         .type_of = {0},
         .prepare = make_images});
    registry.add(
        {.kind = "conv2d_input_gradient",
         .infer = infer_input_gradient,
         .cost = [](const Graph& graph,
                    const Op& op) { return multiply_adds(graph.shape(op.inputs[0]), graph.shape(op.inputs[1])); },
         .type_of = {0}});
    registry.add(
        {.kind = "conv2d_weight_gradient",
         .infer = infer_weight_gradient,
         .cost = [](const Graph& graph,
                    const Op& op) { return multiply_adds(graph.shape(op.inputs[1]), graph.shape(op.outputs[0])); },
         .type_of = {1}});
    registry.add(
        {.kind = "conv_transpose2d",
         .infer = infer_transposed,
         .gradient = transposed_gradient,
         .cost = [](const Graph& graph,
                    const Op& op) { return multiply_adds(graph.shape(op.inputs[0]), graph.shape(op.inputs[1])); },
         .arity = 3,
         .type_of = {0},
         .prepare = make_images});
}

} // namespace espalier
