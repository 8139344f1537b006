// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/pooling.h"

#include "graph/builder.h"
#include "graph/ops/families.h"

namespace espalier {
namespace {

constexpr std::int64_t most_places = 255; // argmax is a u8

/// Shape of y for an input x [N,C,H,W].
Shape pooled(const Arguments& arguments, const Shape& x) {
    const auto pooling = Pooling::from(arguments.attributes());
    arguments.expect_at_least("kernel", pooling.kernel, 1);
    arguments.expect_at_least("stride", pooling.stride, 1);
    arguments.expect_at_least("padding", pooling.padding, 0);
    // With less padding than kernel every window holds at least one value of the input.
    if (pooling.padding[0] >= pooling.kernel[0] || pooling.padding[1] >= pooling.kernel[1])
        arguments.refuse("padding must be smaller than the kernel, " + text_of(pooling.kernel) + ", but is " +
                         text_of(pooling.padding) + ".");
    const Shape y{x[0], x[1], pooling.extent(0, x[2]), pooling.extent(1, x[3])};
    if (y[2] < 1 || y[3] < 1)
        arguments.refuse("kernel must not be larger than the padded input, but is " + text_of(pooling.kernel) +
                         " for an input of " + x.text() + " with padding " + text_of(pooling.padding) + ".");
    return y;
}

void expect_places(const Arguments& arguments) {
    const auto kernel = Pooling::from(arguments.attributes()).kernel;
    if (kernel[0] * kernel[1] > most_places)
        arguments.refuse("kernel must have at most " + std::to_string(most_places) + " places, but " + text_of(kernel) +
                         " has " + std::to_string(kernel[0] * kernel[1]) + ".");
}

std::vector<OutputSpec> infer_max_pool(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    const auto y = pooled(arguments, arguments.shape(0, "x", 4));
    expect_places(arguments);
    return {{y}, {y, DType::u8}};
}

std::vector<OutputSpec> infer_max_pool_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    const auto x = arguments.shape_attribute("input_shape", 4, 4);
    const auto y = pooled(arguments, x);
    arguments.expect_shape(0, "gy", y);
    arguments.expect_shape(1, "argmax", y);
    arguments.expect_type(1, "argmax", DType::u8);
    return {{x}};
}

std::vector<OutputSpec> infer_avg_pool(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    return {{pooled(arguments, arguments.shape(0, "x", 4))}};
}

std::vector<OutputSpec> infer_avg_pool_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    const auto x = arguments.shape_attribute("input_shape", 4, 4);
    arguments.expect_shape(0, "gy", pooled(arguments, x));
    return {{x}};
}

std::vector<OutputSpec> infer_global(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    const auto& x = arguments.shape(0, "x", 4);
    return {{{x[0], x[1]}}};
}

std::vector<OutputSpec> infer_global_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    const auto x = arguments.shape_attribute("input_shape", 4, 4);
    arguments.expect_shape(0, "gy", {x[0], x[1]});
    return {{x}};
}

Attributes with_input_shape(const GradientRequest& request) {
    auto attributes = request.op.attributes;
    attributes.set("input_shape", request.builder.graph().shape(request.op.inputs[0]).vector());
    return attributes;
}

std::vector<TensorId> max_pool_gradient(const GradientRequest& request) {
    return {request.builder.apply_one("max_pool2d_gradient", {request.output_gradients[0], request.op.outputs[1]},
                                      with_input_shape(request))};
}

std::vector<TensorId> avg_pool_gradient(const GradientRequest& request) {
    return {request.builder.apply_one("avg_pool2d_gradient", {request.output_gradients[0]}, with_input_shape(request))};
}

std::vector<TensorId> global_gradient(const GradientRequest& request) {
    return {request.builder.apply_one("global_avg_pool_gradient", {request.output_gradients[0]},
                                      with_input_shape(request))};
}

} // namespace

Pooling Pooling::from(const Attributes& attributes) {
    return {.kernel = read_pair(attributes, "kernel", {1, 1}),
            .stride = read_pair(attributes, "stride", {1, 1}),
            .padding = read_pair(attributes, "padding", {0, 0}),
            .count_include_pad = attributes.flag("count_include_pad", false)};
}

std::int64_t Pooling::extent(std::size_t axis, std::int64_t input) const {
    const auto span = input + 2 * padding[axis] - kernel[axis];
    return span < 0 ? 0 : span / stride[axis] + 1;
}

void register_pooling(OpRegistry& registry) {
    registry.add({.kind = "max_pool2d", .infer = infer_max_pool, .gradient = max_pool_gradient, .type_of = {0, -1}});
    registry.add({.kind = "max_pool2d_gradient", .infer = infer_max_pool_gradient, .type_of = {0}});
    registry.add({.kind = "avg_pool2d", .infer = infer_avg_pool, .gradient = avg_pool_gradient, .type_of = {0}});
    registry.add({.kind = "avg_pool2d_gradient", .infer = infer_avg_pool_gradient, .type_of = {0}});
    registry.add({.kind = "global_avg_pool", .infer = infer_global, .gradient = global_gradient, .type_of = {0}});
    registry.add({.kind = "global_avg_pool_gradient", .infer = infer_global_gradient, .type_of = {0}});
}

} // namespace espalier
