// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/normalization.h"

#include "graph/builder.h"
#include "graph/ops/arguments.h"
#include "graph/ops/families.h"

namespace espalier {
namespace {

constexpr std::size_t least_rank = 2, most_rank = 4;

BatchNorm read_batch_norm(const Arguments& arguments) {
    const auto norm = BatchNorm::from(arguments.attributes());
    if (!(norm.eps > 0))
        arguments.refuse("eps must be greater than 0, but is " + std::to_string(norm.eps) + ".");
    arguments.expect_between("momentum", norm.momentum, 0, 1);
    return norm;
}

std::vector<OutputSpec> infer_batch_norm(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(5, 6);
    const auto norm = read_batch_norm(arguments);
    const auto& x = arguments.shape(0, "x", least_rank, most_rank);
    const Shape channels{x[1]};
    if (x.count() / x[1] < 2)
        arguments.refuse("needs at least 2 values a channel to normalise by the batch, but x is " + x.text() +
                         ": use a larger batch.");
    arguments.expect_shape(1, "weight", channels, true);
    arguments.expect_shape(2, "bias", channels, true);
    arguments.expect_shape(3, "running_mean", channels);
    arguments.expect_shape(4, "running_var", channels);
    arguments.expect_shape(5, "residual", x, true);
    if (norm.update_running)
        arguments.expect_changes({op.inputs[3], op.inputs[4]}, "running_mean and running_var");
    return {{x}, {channels}, {channels}};
}

std::vector<OutputSpec> infer_apply(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(3, 6);
    read_batch_norm(arguments);
    const auto& x = arguments.shape(0, "x", least_rank, most_rank);
    const Shape channels{x[1]};
    const bool inference = op.kind == "batch_norm_inference";
    arguments.expect_shape(1, inference ? "running_mean" : "mean", channels);
    arguments.expect_shape(2, inference ? "running_var" : "inv_std", channels);
    arguments.expect_shape(3, "weight", channels, true);
    arguments.expect_shape(4, "bias", channels, true);
    arguments.expect_shape(5, "residual", x, true);
    return {{x}};
}

std::vector<OutputSpec> infer_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(4, 7);
    const auto norm = read_batch_norm(arguments);
    const auto& x = arguments.shape(0, "x", least_rank, most_rank);
    const Shape channels{x[1]};
    arguments.expect_shape(1, "gy", x);
    arguments.expect_shape(2, "mean", channels);
    arguments.expect_shape(3, "inv_std", channels);
    arguments.expect_shape(4, "weight", channels, true);
    arguments.expect_shape(5, "bias", channels, true);
    arguments.expect_shape(6, "y", x, !norm.relu);
    return {{x}, {channels}, {channels}, {x}};
}

std::vector<TensorId> batch_norm_gradient(const GradientRequest& request) {
    const auto& op = request.op;
    const auto norm = BatchNorm::from(op.attributes);
    const auto gy = request.output_gradients[BatchNorm::y];
    std::vector<TensorId> gradients(op.inputs.size(), no_tensor);
    if (gy == no_tensor)
        return gradients; // nothing flows through the statistics: they are outputs for the backward alone
    const bool wants_residual = gradients.size() > BatchNorm::residual && request.wanted[BatchNorm::residual];
    // Without an activation the residual's gradient is gy itself: no second copy.
    const bool copies_residual = wants_residual && norm.relu;
    Attributes attributes;
    if (norm.relu)
        attributes.set("activation", std::string("relu"));
    const auto outputs = request.builder.apply(
        "batch_norm_gradient",
        {op.inputs[BatchNorm::x], gy, op.outputs[BatchNorm::mean], op.outputs[BatchNorm::inv_std],
         op.inputs[BatchNorm::weight], op.inputs[BatchNorm::bias], norm.relu ? op.outputs[BatchNorm::y] : no_tensor},
        std::move(attributes), {},
        {true, bool(request.wanted[BatchNorm::weight]), bool(request.wanted[BatchNorm::bias]), copies_residual});
    gradients[BatchNorm::x] = outputs[0];
    gradients[BatchNorm::weight] = outputs[1];
    gradients[BatchNorm::bias] = outputs[2];
    if (wants_residual)
        gradients[BatchNorm::residual] = copies_residual ? outputs[3] : gy;
    return gradients;
}

} // namespace

BatchNorm BatchNorm::from(const Attributes& attributes) {
    return {.eps = attributes.real("eps", 1e-5),
            .momentum = attributes.real("momentum", 0.1),
            .update_running = attributes.flag("update_running", true),
            .relu = reads_relu(attributes)};
}

void register_normalization(OpRegistry& registry) {
    registry.add({.kind = "batch_norm",
                  .infer = infer_batch_norm,
                  .gradient = batch_norm_gradient,
                  .arity = 6,
                  .type_of = {0, -1}});
    registry.add({.kind = "batch_norm_apply", .infer = infer_apply, .arity = 6, .type_of = {0}});
    registry.add({.kind = "batch_norm_inference", .infer = infer_apply, .arity = 6, .type_of = {0}});
    registry.add({.kind = "batch_norm_gradient", .infer = infer_gradient, .arity = 7, .type_of = {1, -1, -1, 1}});
}

} // namespace espalier
