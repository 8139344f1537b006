// SPDX-License-Identifier: Apache-2.0
#include "graph/builder.h"
#include "graph/ops/arguments.h"
#include "graph/ops/families.h"

#include <limits>

namespace espalier {
namespace {

Shape with_extent(const Shape& shape, std::int64_t axis, std::int64_t extent) {
    auto extents = shape.vector();
    extents[static_cast<std::size_t>(axis)] = extent;
    return Shape(extents);
}

std::vector<OutputSpec> infer_concat(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, std::numeric_limits<std::size_t>::max());
    const auto& first = arguments.shape(0, "x1", 1, Shape::max_rank);
    const auto axis = arguments.axis(first.rank(), 1);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const auto name = "x" + std::to_string(i + 1);
        const auto extent = arguments.shape(i, name, first.rank())[static_cast<std::size_t>(axis)];
        arguments.expect_shape(i, name, with_extent(first, axis, extent));
        sum += extent;
    }
    return {{with_extent(first, axis, sum)}};
}

/// Shape of the slice of `x` that the attributes name.
Shape sliced(const Arguments& arguments, const Shape& x) {
    const auto axis = arguments.axis(x.rank(), 1);
    const auto begin = arguments.attributes().integer("begin", 0);
    const auto end = arguments.attributes().integer("end", 0);
    const auto extent = x[static_cast<std::size_t>(axis)];
    if (begin < 0 || begin >= end || end > extent)
        arguments.refuse("begin and end must hold 0 <= begin < end <= " + std::to_string(extent) + ", but are " +
                         std::to_string(begin) + " and " + std::to_string(end) + ".");
    return with_extent(x, axis, end - begin);
}

/// Shape of the shifted slice of `x` [N,C,H,W].
Shape shifted(const Arguments& arguments, const Shape& x) {
    const auto offset = read_pair(arguments.attributes(), "offset", {0, 0});
    const auto stride = read_pair(arguments.attributes(), "stride", {1, 1});
    arguments.expect_at_least("offset", offset, 0);
    arguments.expect_at_least("stride", stride, 1);
    return {x[0], x[1], (x[2] + stride[0] - 1) / stride[0], (x[3] + stride[1] - 1) / stride[1]};
}

std::vector<OutputSpec> infer_reshape(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    const auto& x = arguments.shape(0, "x", 1, Shape::max_rank);
    arguments.expect_floating(0, "x");
    const auto y = arguments.shape_attribute("shape", 1, Shape::max_rank);
    if (y.count() != x.count())
        arguments.refuse("shape must hold as many elements as x, " + std::to_string(x.count()) + " (" + x.text() +
                         "), but " + y.text() + " holds " + std::to_string(y.count()) + ".");
    return {{y}};
}

std::vector<OutputSpec> infer_slice(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    return {{sliced(arguments, arguments.shape(0, "x", 1, Shape::max_rank))}};
}

std::vector<OutputSpec> infer_slice_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    const auto x = arguments.shape_attribute("input_shape", 1, Shape::max_rank);
    arguments.expect_shape(0, "gy", sliced(arguments, x));
    return {{x}};
}

std::vector<OutputSpec> infer_shifted_slice(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    return {{shifted(arguments, arguments.shape(0, "x", 4))}};
}

std::vector<OutputSpec> infer_shifted_slice_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(1, 1);
    const auto x = arguments.shape_attribute("input_shape", 4, 4);
    arguments.expect_shape(0, "gy", shifted(arguments, x));
    return {{x}};
}

std::vector<TensorId> concat_gradient(const GradientRequest& request) {
    auto& builder = request.builder;
    const auto axis = request.op.attributes.integer("axis", 1);
    std::vector<TensorId> gradients(request.op.inputs.size(), no_tensor);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        const auto end = begin + builder.graph().shape(request.op.inputs[i])[static_cast<std::size_t>(axis)];
        if (request.wanted[i])
            gradients[i] = builder.apply_one("slice", {request.output_gradients[0]},
                                             {{"axis", axis}, {"begin", begin}, {"end", end}});
        begin = end;
    }
    return gradients;
}

std::vector<TensorId> reshape_gradient(const GradientRequest& request) {
    return {request.builder.apply_one("reshape", {request.output_gradients[0]},
                                      {{"shape", request.builder.graph().shape(request.op.inputs[0]).vector()}})};
}

/// slice -> slice_gradient, shifted_slice -> shifted_slice_gradient.
std::vector<TensorId> scatter_gradient(const GradientRequest& request) {
    auto attributes = request.op.attributes;
    attributes.set("input_shape", request.builder.graph().shape(request.op.inputs[0]).vector());
    return {
        request.builder.apply_one(request.op.kind + "_gradient", {request.output_gradients[0]}, std::move(attributes))};
}

} // namespace

void register_concat(OpRegistry& registry) {
    registry.add({.kind = "concat", .infer = infer_concat, .gradient = concat_gradient, .type_of = {0}});
    registry.add({.kind = "reshape", .infer = infer_reshape, .gradient = reshape_gradient, .type_of = {0}});
    registry.add({.kind = "slice", .infer = infer_slice, .gradient = scatter_gradient, .type_of = {0}});
    registry.add({.kind = "slice_gradient", .infer = infer_slice_gradient, .type_of = {0}});
    registry.add({.kind = "shifted_slice", .infer = infer_shifted_slice, .gradient = scatter_gradient, .type_of = {0}});
    registry.add({.kind = "shifted_slice_gradient", .infer = infer_shifted_slice_gradient, .type_of = {0}});
}

} // namespace espalier
