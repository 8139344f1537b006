// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/loss.h"

#include "backends/cuda/kernels/dice.h"
#include "backends/cuda/kernels/softmax.h"
#include "backends/cuda/lowering/lowering.h"

namespace espalier::cuda {
namespace {

Scores scores_of(const Context& c) { return {c.input(0).shape[0], c.input(0).shape[1], c.input(0).type}; }

std::size_t row_values(const Scores& scores) { return static_cast<std::size_t>(scores.rows) * sizeof(double); }

float smoothing_of(const Context& c) { return static_cast<float>(c.op.attributes.real("label_smoothing", 0.0)); }

constexpr std::size_t weight_sums = 2 * sizeof(double);

Lowered lower_cross_entropy(const Context& c) {
    Lowered result = c.plain();
    const auto scores = scores_of(c);
    const auto rows = row_values(scores);
    result.workspace = rows + (c.has_input(2) ? weight_sums : 0);
    result.kernel = launch_kernel(c, "cross entropy", [scores, rows, smoothing = smoothing_of(c)](const Arguments& a) {
        launch_cross_entropy(a.in(0), a.in_i32(1), {a.in_f32(2), a.scratch<double>(rows)}, a.out_f32(0), a.out(1),
                             a.scratch<double>(), scores, smoothing, a.stream);
    });
    return result;
}

Lowered lower_cross_entropy_gradient(const Context& c) {
    Lowered result = c.plain();
    result.in_place = {{0, 0}};
    result.workspace = c.has_input(3) ? weight_sums : 0;
    result.kernel = launch_kernel(
        c, "cross entropy gradient", [scores = scores_of(c), smoothing = smoothing_of(c)](const Arguments& a) {
            launch_cross_entropy_gradient(a.in(0), a.in_i32(1), {a.in_f32(3), a.scratch<double>()}, a.in_f32(2),
                                          a.out(0), scores, smoothing, a.stream);
        });
    return result;
}

Lowered lower_correct_count(const Context& c) {
    Lowered result = c.plain();
    const auto scores = scores_of(c);
    result.workspace = row_values(scores);
    result.kernel = launch_kernel(c, "correct count", [scores](const Arguments& a) {
        launch_correct_count(a.in(0), a.in_i32(1), a.out_f32(0), a.scratch<double>(), scores, a.stream);
    });
    return result;
}

Dice dice_of(const Context& c, const Layout& logits) {
    const auto rows = rows_of(logits);
    Dice dice;
    dice.pixels = rows.count();
    dice.classes = rows.channels;
    dice.pitch = rows.pitch;
    dice.first = c.op.attributes.flag("ignore_background", true) ? 1 : 0;
    dice.eps = c.op.attributes.real("eps", 1e-5);
    dice.type = description(logits).type;
    return dice;
}

Lowered lower_dice(const Context& c) {
    Lowered result = c.natural();
    const auto dice = dice_of(c, result.inputs[0]);
    result.workspace = dice_workspace(dice);
    result.kernel = launch_kernel(c, "generalized dice", [dice](const Arguments& a) {
        launch_dice(a.in(0), a.in_i32(1), a.out_f32(0), a.scratch<double>(), dice, a.stream);
    });
    return result;
}

Lowered lower_dice_gradient(const Context& c) {
    Lowered result = c.natural();
    const auto dice = dice_of(c, result.inputs[0]);
    result.workspace = dice_workspace(dice);
    result.kernel = launch_kernel(c, "generalized dice gradient", [dice](const Arguments& a) {
        launch_dice_gradient(a.in(0), a.in_i32(1), a.in_f32(2), a.out(0), a.scratch<double>(), dice, a.stream);
    });
    return result;
}

/// Channels of images are cut as they lie, every other axis in row-major order.
SoftmaxShape softmax_shape(const Context& c, Lowered& result) {
    const Shape& shape = c.output(0).shape;
    auto axis = c.op.attributes.integer("axis", 1);
    if (axis < 0)
        axis += static_cast<std::int64_t>(shape.rank());
    SoftmaxShape cut;
    cut.type = c.output(0).type;
    if (shape.rank() == 4 && axis == 1) {
        result = c.natural();
        const auto rows = rows_of(result.outputs[0]);
        cut.outer = rows.count();
        cut.extent = rows.channels;
        cut.pitch = rows.pitch;
        return cut;
    }
    result = c.plain();
    for (std::size_t i = 0; i < shape.rank(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        (at < axis ? cut.outer : at == axis ? cut.extent : cut.inner) *= shape[i];
    }
    cut.pitch = shape.rank() == 1 ? description(result.outputs[0]).elements : cut.extent * cut.inner;
    return cut;
}

Lowered lower_softmax(const Context& c) {
    Lowered result;
    const auto shape = softmax_shape(c, result);
    result.kernel = launch_kernel(c, "softmax",
                                  [shape](const Arguments& a) { launch_softmax(a.in(0), a.out(0), shape, a.stream); });
    return result;
}

Lowered lower_softmax_gradient(const Context& c) {
    Lowered result;
    const auto shape = softmax_shape(c, result);
    result.kernel = launch_kernel(c, "softmax gradient", [shape](const Arguments& a) {
        launch_softmax_gradient(a.in(0), a.in(1), a.out(0), shape, a.stream);
    });
    return result;
}

/// Losses and counts are f32; scores, probabilities and their gradients are all of one type.
Support supports_scores(const Context& c) {
    const auto type = c.input(0).type;
    for (std::size_t i = 0; i < c.op.outputs.size(); ++i)
        if (c.has_output(i) && c.output(i).type != (c.output(i).shape == Shape{1} ? DType::f32 : type))
            return Support::no("losses must be f32, and scores and their gradients of one element type");
    return {};
}

Support supports_softmax(const Context& c) {
    for (std::size_t i = 0; i < c.op.inputs.size(); ++i)
        if (c.input(i).type != c.output(0).type)
            return Support::no("the tensors of a softmax must be of one element type");
    return {};
}

} // namespace

void add_loss(LoweringTable& table) {
    table["cross_entropy"] = {lower_cross_entropy, supports_scores};
    table["cross_entropy_gradient"] = {lower_cross_entropy_gradient, supports_scores};
    table["correct_count"] = {lower_correct_count, supports_scores};
    table["generalized_dice"] = {lower_dice, supports_scores};
    table["generalized_dice_gradient"] = {lower_dice_gradient, supports_scores};
    table["softmax"] = {lower_softmax, supports_softmax};
    table["softmax_gradient"] = {lower_softmax_gradient, supports_softmax};
}

} // namespace espalier::cuda
