// SPDX-License-Identifier: Apache-2.0
#include "graph/builder.h"
#include "graph/ops/arguments.h"
#include "graph/ops/families.h"

namespace espalier {
namespace {

/// Labels are i32, one for each position of the scores, whose axis 1 is the classes.
void expect_labels(const Arguments& arguments, std::size_t index, const Shape& scores) {
    auto extents = scores.vector();
    extents.erase(extents.begin() + 1);
    arguments.expect_shape(index, "labels", Shape(extents));
    arguments.expect_type(index, "labels", DType::i32);
}

/// Weights of the classes, which may be left out.
void expect_class_weights(const Arguments& arguments, std::size_t index, const Shape& scores) {
    arguments.expect_shape(index, "class_weights", {scores[1]}, /*optional=*/true);
    if (arguments.given(index))
        arguments.expect_type(index, "class_weights", DType::f32);
}

void expect_smoothing(const Arguments& arguments) {
    const auto smoothing = arguments.attributes().real("label_smoothing", 0.0);
    if (!(smoothing >= 0 && smoothing < 1))
        arguments.refuse("label_smoothing must be at least 0 and less than 1, but is " + std::to_string(smoothing) +
                         ".");
}

void expect_dice_settings(const Arguments& arguments, const Shape& logits) {
    const auto eps = arguments.attributes().real("eps", 1e-5);
    if (!(eps > 0))
        arguments.refuse("eps must be greater than 0, but is " + std::to_string(eps) + ".");
    if (arguments.attributes().flag("ignore_background", true) && logits[1] < 2)
        arguments.refuse("needs at least 2 classes where the background is ignored, but logits are " + logits.text() +
                         ".");
}

std::vector<OutputSpec> infer_cross_entropy(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 3);
    const auto& logits = arguments.shape(0, "logits", 2);
    expect_labels(arguments, 1, logits);
    expect_class_weights(arguments, 2, logits);
    expect_smoothing(arguments);
    return {{{1}}, {logits}};
}

std::vector<OutputSpec> infer_cross_entropy_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(3, 4);
    const auto& probabilities = arguments.shape(0, "probabilities", 2);
    expect_labels(arguments, 1, probabilities);
    arguments.expect_shape(2, "gloss", {1});
    expect_class_weights(arguments, 3, probabilities);
    expect_smoothing(arguments);
    return {{probabilities}};
}

std::vector<OutputSpec> infer_dice(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    const auto& logits = arguments.shape(0, "logits", 4);
    expect_labels(arguments, 1, logits);
    expect_dice_settings(arguments, logits);
    return {{{1}}};
}

std::vector<OutputSpec> infer_dice_gradient(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(3, 3);
    const auto& logits = arguments.shape(0, "logits", 4);
    expect_labels(arguments, 1, logits);
    arguments.expect_shape(2, "gloss", {1});
    expect_dice_settings(arguments, logits);
    return {{logits}};
}

std::vector<OutputSpec> infer_correct_count(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 2);
    expect_labels(arguments, 1, arguments.shape(0, "logits", 2));
    return {{{1}}};
}

void expect_no_label_gradient(const GradientRequest& request) {
    if (request.wanted[1])
        Arguments(request.builder.graph(), request.op).refuse("has no gradient of its labels.");
}

std::vector<TensorId> cross_entropy_gradient(const GradientRequest& request) {
    expect_no_label_gradient(request);
    if (request.output_gradients[1] != no_tensor)
        Arguments(request.builder.graph(), request.op).refuse("only its loss has a gradient, not its probabilities.");
    std::vector<TensorId> inputs{request.op.outputs[1], request.op.inputs[1], request.output_gradients[0]};
    std::vector<TensorId> gradients(request.op.inputs.size(), no_tensor);
    if (const auto weights = input_at(request.op, 2); weights != no_tensor) {
        if (request.wanted[2])
            Arguments(request.builder.graph(), request.op).refuse("has no gradient of its class weights.");
        inputs.push_back(weights);
    }
    gradients[0] = request.builder.apply_one("cross_entropy_gradient", inputs, request.op.attributes);
    return gradients;
}

std::vector<TensorId> dice_gradient(const GradientRequest& request) {
    expect_no_label_gradient(request);
    return {request.builder.apply_one("generalized_dice_gradient",
                                      {request.op.inputs[0], request.op.inputs[1], request.output_gradients[0]},
                                      request.op.attributes),
            no_tensor};
}

} // namespace

void register_loss(OpRegistry& registry) {
    registry.add({.kind = "cross_entropy", .infer = infer_cross_entropy, .gradient = cross_entropy_gradient});
    registry.add({.kind = "cross_entropy_gradient", .infer = infer_cross_entropy_gradient});
    registry.add({.kind = "generalized_dice", .infer = infer_dice, .gradient = dice_gradient});
    registry.add({.kind = "generalized_dice_gradient", .infer = infer_dice_gradient});
    registry.add({.kind = "correct_count", .infer = infer_correct_count});
}

} // namespace espalier
