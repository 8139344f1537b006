// SPDX-License-Identifier: Apache-2.0
#include "graph/builder.h"
#include "graph/ops/arguments.h"
#include "graph/ops/families.h"

#include <algorithm>

namespace espalier {
namespace {

/// Checks row and columns against the weight table and returns the number of candidates m.
std::size_t candidates(const Arguments& arguments, const Shape& table) {
    const auto row = arguments.attributes().integer("row", -1);
    const auto columns = arguments.attributes().integers("columns");
    if (row < 0 || row >= table[0])
        arguments.refuse("row must be from 0 to " + std::to_string(table[0] - 1) + ", but is " + std::to_string(row) +
                         ".");
    if (columns.empty())
        arguments.refuse("columns must name at least 1 candidate, but is empty.");
    for (auto column : columns)
        if (column < 0 || column >= table[1])
            arguments.refuse("columns must be from 0 to " + std::to_string(table[1] - 1) + ", but one is " +
                             std::to_string(column) + ".");
    auto sorted = columns;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end())
        arguments.refuse("columns must differ, but one is given twice.");
    return columns.size();
}

void expect_candidates(const Arguments& arguments, std::size_t begin, std::size_t count, const Shape& shape) {
    if (arguments.op().inputs.size() - begin != count)
        arguments.refuse("takes one x for each of its " + std::to_string(count) + " columns, but got " +
                         std::to_string(arguments.op().inputs.size() - begin) + ".");
    for (std::size_t i = 0; i < count; ++i)
        arguments.expect_shape(begin + i, "x" + std::to_string(i + 1), shape);
}

std::vector<OutputSpec> infer_weighted_sum(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, Arguments::any_number);
    const auto count = candidates(arguments, arguments.shape(0, "w", 2));
    const auto& x = arguments.shape(1, "x1", 1, Shape::max_rank);
    expect_candidates(arguments, 1, count, x);
    return {{x}};
}

std::vector<OutputSpec> infer_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    const auto count = candidates(arguments, arguments.shape(0, "w", 2));
    return std::vector<OutputSpec>(count, {arguments.shape(1, "gy", 1, Shape::max_rank)});
}

std::vector<OutputSpec> infer_weighted_sum_weight_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, Arguments::any_number);
    const auto table = arguments.shape_attribute("weights_shape", 2, 2);
    const auto count = candidates(arguments, table);
    expect_candidates(arguments, 1, count, arguments.shape(0, "gy", 1, Shape::max_rank));
    return {{table}};
}

std::vector<TensorId> weighted_sum_gradient(const GradientRequest& request) {
    auto& builder = request.builder;
    const auto& op = request.op;
    const auto gy = request.output_gradients[0];
    std::vector<TensorId> gradients(op.inputs.size(), no_tensor);
    if (request.wanted[0]) {
        auto attributes = op.attributes;
        attributes.set("weights_shape", builder.graph().shape(op.inputs[0]).vector());
        auto inputs = op.inputs;
        inputs[0] = gy;
        gradients[0] = builder.apply_one("weighted_sum_weight_gradient", std::move(inputs), std::move(attributes));
    }
    if (std::any_of(request.wanted.begin() + 1, request.wanted.end(), [](char wanted) { return wanted != 0; })) {
        const auto outputs = builder.apply("weighted_sum_gradient", {op.inputs[0], gy}, op.attributes);
        std::ranges::copy(outputs, gradients.begin() + 1);
    }
    return gradients;
}

} // namespace

void register_weighted_sum(OpRegistry& registry) {
    registry.add(
        {.kind = "weighted_sum", .infer = infer_weighted_sum, .gradient = weighted_sum_gradient, .type_of = {1}});
    registry.add({.kind = "weighted_sum_gradient", .infer = infer_gradient, .type_of = {1}});
    registry.add({.kind = "weighted_sum_weight_gradient", .infer = infer_weighted_sum_weight_gradient});
}

} // namespace espalier
