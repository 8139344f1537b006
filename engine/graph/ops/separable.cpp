// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/separable.h"

#include "base/error.h"
#include "graph/ops/arguments.h"
#include "graph/ops/families.h"

namespace espalier {
namespace {

/// The depthwise filter of images with these channels, [C,1,k,k] with an odd k.
void expect_filter(const Arguments& arguments, const Shape& filter, std::int64_t channels) {
    if (filter[0] != channels || filter[1] != 1 || filter[2] != filter[3] || filter[2] % 2 == 0)
        arguments.refuse("filter must be [" + std::to_string(channels) + ", 1, k, k] with an odd k, but is " +
                         filter.text() + ".");
}

const Shape& expect_matrix(const Arguments& arguments, std::size_t index, std::int64_t channels) {
    const auto& matrix = arguments.shape(index, "matrix", 4);
    if (matrix[1] != channels || matrix[2] != 1 || matrix[3] != 1)
        arguments.refuse("matrix must be [K, " + std::to_string(channels) + ", 1, 1], but is " + matrix.text() + ".");
    return matrix;
}

/// The batch norm of the input, from `first` on: mean, inv_std, weight and bias, or none of them.
void expect_norm(const Arguments& arguments, std::size_t first, const Shape& channels) {
    const bool given = arguments.given(first);
    arguments.expect_shape(first, "mean", channels, true);
    arguments.expect_shape(first + 1, "inv_std", channels, !given);
    arguments.expect_shape(first + 2, "weight", channels, true);
    arguments.expect_shape(first + 3, "bias", channels, true);
    if (!given && (arguments.given(first + 1) || arguments.given(first + 2) || arguments.given(first + 3)))
        arguments.refuse("inv_std, weight and bias need a mean.");
}

std::vector<OutputSpec> infer_forward(const Graph& graph, const Op& op) {
    const Arguments arguments(graph, op);
    arguments.expect_count(5, 12);
    const auto separable = Separable::from(op.attributes);
    if (!(separable.eps > 0))
        arguments.refuse("eps must be greater than 0, but is " + std::to_string(separable.eps) + ".");
    arguments.expect_between("momentum", separable.momentum, 0, 1);
    const auto& x = arguments.shape(Separable::x, "x", 4);
    expect_filter(arguments, arguments.shape(Separable::filter, "filter", 4), x[1]);
    const Shape products{expect_matrix(arguments, Separable::matrix, x[1])[0]};
    const Shape z{x[0], products[0], x[2], x[3]};
    if (z.count() / z[1] < 2)
        arguments.refuse("needs at least 2 values a channel to normalise by the batch, but x is " + x.text() +
                         ": use a larger batch.");
    arguments.expect_shape(Separable::running_mean, "running_mean", products);
    arguments.expect_shape(Separable::running_var, "running_var", products);
    expect_norm(arguments, Separable::mean, {x[1]});
    arguments.expect_shape(Separable::z_weight, "z_weight", products, true);
    arguments.expect_shape(Separable::z_bias, "z_bias", products, true);
    arguments.expect_shape(Separable::residual, "residual", z, true);
    if (separable.update_running)
        arguments.expect_changes({op.inputs[Separable::running_mean], op.inputs[Separable::running_var]},
                                 "running_mean and running_var");
    return {{x}, {z}, {z}, {products}, {products}};
}

std::vector<OutputSpec> infer_pointwise_gradient(const Graph& graph, const Op& op) {
    using Place = SeparablePointwiseGradient;
    const Arguments arguments(graph, op);
    arguments.expect_count(8, 9);
    const auto& z = arguments.shape(Place::z, "z", 4);
    const auto& d = arguments.shape(Place::d, "d", 4);
    const auto& matrix = expect_matrix(arguments, Place::matrix, d[1]);
    arguments.expect_shape(Place::gy, "gy", z);
    arguments.expect_shape(Place::d, "d", {z[0], d[1], z[2], z[3]});
    arguments.expect_shape(Place::z, "z", {z[0], matrix[0], z[2], z[3]});
    for (const auto& [place, name] : {std::pair{Place::mean, "mean"},
                                      {Place::inv_std, "inv_std"},
                                      {Place::gweight, "gweight"},
                                      {Place::gbias, "gbias"}})
        arguments.expect_shape(place, name, {z[1]});
    arguments.expect_shape(Place::weight, "weight", {z[1]}, true);
    return {{d}, {matrix}};
}

std::vector<OutputSpec> infer_depthwise_gradient(const Graph& graph, const Op& op) {
    using Place = SeparableDepthwiseGradient;
    const Arguments arguments(graph, op);
    arguments.expect_count(3, 7);
    Separable::from(op.attributes);
    const auto& x = arguments.shape(Place::x, "x", 4);
    arguments.expect_shape(Place::gd, "gd", x);
    expect_filter(arguments, arguments.shape(Place::filter, "filter", 4), x[1]);
    expect_norm(arguments, Place::mean, {x[1]});
    return {{x}, {{x[1]}}, {{x[1]}}};
}

std::vector<OutputSpec> infer_filter_gradient(const Graph& graph, const Op& op) {
    using Place = SeparableFilterGradient;
    const Arguments arguments(graph, op);
    arguments.expect_count(2, 6);
    Separable::from(op.attributes);
    const auto filter = arguments.shape_attribute("weight_shape", 4, 4);
    const auto& x = arguments.shape(Place::x, "x", 4);
    arguments.expect_shape(Place::gd, "gd", x);
    expect_filter(arguments, filter, x[1]);
    expect_norm(arguments, Place::mean, {x[1]});
    return {{filter}};
}

double pixels_of(const Shape& image) { return static_cast<double>(image[0] * image[2] * image[3]); }

/// As conv2d counts: twice the products of the two convolutions; of the gradients those that are wanted.
Cost forward_cost(const Graph& graph, const Op& op) {
    const auto weights =
        graph.shape(op.inputs[Separable::filter]).count() + graph.shape(op.inputs[Separable::matrix]).count();
    return {2.0 * pixels_of(graph.shape(op.inputs[Separable::x])) * static_cast<double>(weights)};
}
Cost pointwise_gradient_cost(const Graph& graph, const Op& op) {
    using Place = SeparablePointwiseGradient;
    const bool both = op.outputs[Place::gmatrix] != no_tensor;
    return {(both ? 4.0 : 2.0) * pixels_of(graph.shape(op.inputs[Place::d])) *
            static_cast<double>(graph.shape(op.inputs[Place::matrix]).count())};
}
Cost depthwise_cost(const Graph& graph, TensorId image, TensorId filter) {
    return {2.0 * pixels_of(graph.shape(image)) * static_cast<double>(graph.shape(filter).count())};
}

} // namespace

Separable Separable::from(const Attributes& attributes) {
    const auto activation = attributes.text("input_activation");
    if (!activation.empty() && activation != "relu")
        throw ConfigError("The attribute input_activation must be \"relu\" or \"\", but is \"" + activation + "\".");
    return {.input_relu = activation == "relu",
            .relu = reads_relu(attributes),
            .eps = attributes.real("eps", 1e-5),
            .momentum = attributes.real("momentum", 0.1),
            .update_running = attributes.flag("update_running", true)};
}

void register_separable(OpRegistry& registry) {
    registry.add({.kind = "separable_conv2d",
                  .infer = infer_forward,
                  .cost = forward_cost,
                  .arity = 12,
                  .type_of = {0, 0, 0, -1},
                  .wide_inputs = {Separable::x, Separable::filter, Separable::matrix}});
    registry.add({.kind = "separable_pointwise_gradient",
                  .infer = infer_pointwise_gradient,
                  .cost = pointwise_gradient_cost,
                  .arity = 9,
                  .type_of = {0},
                  .wide_inputs = {SeparablePointwiseGradient::matrix},
                  .wide_outputs = {SeparablePointwiseGradient::gmatrix}});
    registry.add({.kind = "separable_depthwise_gradient",
                  .infer = infer_depthwise_gradient,
                  .cost =
                      [](const Graph& graph, const Op& op) {
                          using Place = SeparableDepthwiseGradient;
                          return depthwise_cost(graph, op.inputs[Place::x], op.inputs[Place::filter]);
                      },
                  .arity = 7,
                  .type_of = {0, -1, -1},
                  .wide_inputs = {SeparableDepthwiseGradient::x, SeparableDepthwiseGradient::filter},
                  .wide_outputs = {SeparableDepthwiseGradient::gx}});
    registry.add({.kind = "separable_filter_gradient",
                  .infer = infer_filter_gradient,
                  .cost =
                      [](const Graph& graph, const Op& op) {
                          using Place = SeparableFilterGradient;
                          return depthwise_cost(graph, op.inputs[Place::x], op.outputs[Place::gfilter]);
                      },
                  .arity = 6,
                  .type_of = {0},
                  .wide_inputs = {SeparableFilterGradient::x},
                  .wide_outputs = {SeparableFilterGradient::gfilter}});
}

} // namespace espalier
