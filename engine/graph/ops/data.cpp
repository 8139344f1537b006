// SPDX-License-Identifier: Apache-2.0
#include "graph/image_order.h"
#include "graph/ops/arguments.h"
#include "graph/ops/families.h"
#include "graph/step_block.h"

namespace espalier {
namespace {

std::vector<OutputSpec> infer_gather_images(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(5, 5);
    arguments.expect_shape(0, "step", {step_block::size});
    const auto& pixels = arguments.shape(1, "pixels", 4);
    arguments.expect_type(1, "pixels", DType::u8);
    arguments.expect_shape(2, "labels", {pixels[0]});
    arguments.expect_type(2, "labels", DType::i32);
    arguments.expect_shape(3, "values", {pixels[1], byte_values});
    arguments.expect_type(3, "values", DType::f32);
    const auto& order = arguments.shape(4, "order", 2);
    arguments.expect_shape(4, "order", {order[0], image_order::columns});
    arguments.expect_type(4, "order", DType::i32);
    const auto batch = arguments.attributes().integer("batch");
    arguments.expect_at_least("batch", batch, 1);
    return {{{batch, pixels[1], pixels[2], pixels[3]}}, {{batch}, DType::i32}};
}

/// Of the data set only what the batch takes crosses memory.
Cost gather_images_cost(const Graph& graph, const Op& op) {
    const auto images = static_cast<double>(graph.shape(op.outputs[0]).count());
    return {0, images * static_cast<double>(size_of(DType::u8) + size_of(DType::f32))};
}

} // namespace

void register_data(OpRegistry& registry) {
    registry.add({.kind = "gather_images", .infer = infer_gather_images, .cost = gather_images_cost});
}

} // namespace espalier
