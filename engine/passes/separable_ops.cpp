// SPDX-License-Identifier: Apache-2.0
#include "passes/separable_ops.h"

#include "graph/ops/normalization.h"
#include "graph/ops/separable.h"

#include <utility>

namespace espalier {
namespace {

void set_activation(const SeparableHalf& half, Op& op) {
    if (half.before || half.relu != no_op)
        op.attributes.set("input_activation", std::string("relu"));
}

} // namespace

Op SeparableOps::like(OpId place, std::string kind) const {
    Op op;
    op.kind = std::move(kind);
    op.layer = at(place).layer;
    op.segment = at(place).segment;
    op.stage = at(place).stage;
    return op;
}

std::vector<TensorId> SeparableOps::norm_of_input(const SeparableHalf& half) const {
    if (!half.before)
        return std::vector<TensorId>(4, no_tensor);
    const auto& norm = at(halves_[*half.before].norm);
    return {norm.outputs[BatchNorm::mean], norm.outputs[BatchNorm::inv_std], norm.inputs[BatchNorm::weight],
            norm.inputs[BatchNorm::bias]};
}

TensorId SeparableOps::input_of(const SeparableHalf& half) const {
    if (half.before)
        return at(halves_[*half.before].pointwise).outputs[0];
    return half.relu != no_op && half.cast == no_op ? at(half.relu).inputs[0] : at(half.depthwise).inputs[0];
}

Op SeparableOps::forward(const SeparableHalf& half) const {
    const auto& norm = at(half.norm);
    Op op = like(half.depthwise, "separable_conv2d");
    op.inputs = {input_of(half), at(half.depthwise).inputs[1], at(half.pointwise).inputs[1],
                 norm.inputs[BatchNorm::running_mean], norm.inputs[BatchNorm::running_var]};
    const auto input_norm = norm_of_input(half);
    op.inputs.insert(op.inputs.end(), input_norm.begin(), input_norm.end());
    op.inputs.resize(Separable::residual + 1, no_tensor);
    op.outputs = {at(half.depthwise).outputs[0], at(half.pointwise).outputs[0], no_tensor};
    if (!half.after) {
        op.inputs[Separable::z_weight] = norm.inputs[BatchNorm::weight];
        op.inputs[Separable::z_bias] = norm.inputs[BatchNorm::bias];
        op.inputs[Separable::residual] = norm.inputs[BatchNorm::residual];
        op.outputs[Separable::y] = norm.outputs[BatchNorm::y];
        if (const auto activation = norm.attributes.text("activation"); !activation.empty())
            op.attributes.set("activation", activation);
    }
    op.outputs.insert(op.outputs.end(), norm.outputs.begin() + BatchNorm::mean, norm.outputs.end());
    for (const char* name : {"eps", "momentum", "update_running"})
        if (norm.attributes.has(name))
            op.attributes.set(name, norm.attributes.values().at(name));
    set_activation(half, op);
    return op;
}

Op SeparableOps::pointwise_gradient(const SeparableHalf& half, TensorId gweight, TensorId gbias) const {
    const auto& norm_gradient = at(half.norm_gradient);
    Op op = like(half.pointwise_input, "separable_pointwise_gradient");
    op.inputs = {norm_gradient.inputs[BatchNormGradient::gy],
                 at(half.pointwise).outputs[0],
                 norm_gradient.inputs[BatchNormGradient::mean],
                 norm_gradient.inputs[BatchNormGradient::inv_std],
                 gweight,
                 gbias,
                 at(half.depthwise).outputs[0],
                 at(half.pointwise).inputs[1],
                 norm_gradient.inputs[BatchNormGradient::weight]};
    op.outputs = {at(half.pointwise_input).outputs[0],
                  half.pointwise_weight == no_op ? no_tensor : at(half.pointwise_weight).outputs[0]};
    return op;
}

Op SeparableOps::depthwise_gradient(const SeparableHalf& half) const {
    Op op = like(half.depthwise_input, "separable_depthwise_gradient");
    op.inputs = {at(half.pointwise_input).outputs[0], input_of(half), at(half.depthwise).inputs[1]};
    const auto input_norm = norm_of_input(half);
    op.inputs.insert(op.inputs.end(), input_norm.begin(), input_norm.end());
    op.outputs = {half.relu != no_op && half.cast == no_op ? at(half.relu_gradient).outputs[0]
                                                           : at(half.depthwise_input).outputs[0],
                  no_tensor, no_tensor};
    if (half.before) {
        op.outputs[SeparableDepthwiseGradient::gweight] = halves_[*half.before].gweight;
        op.outputs[SeparableDepthwiseGradient::gbias] = halves_[*half.before].gbias;
    }
    set_activation(half, op);
    return op;
}

Op SeparableOps::filter_gradient(const SeparableHalf& half) const {
    Op op = like(half.depthwise_weight, "separable_filter_gradient");
    op.inputs = {at(half.pointwise_input).outputs[0], input_of(half)};
    const auto input_norm = norm_of_input(half);
    op.inputs.insert(op.inputs.end(), input_norm.begin(), input_norm.end());
    op.outputs = at(half.depthwise_weight).outputs;
    op.attributes.set("weight_shape", at(half.depthwise_weight).attributes.values().at("weight_shape"));
    set_activation(half, op);
    return op;
}

} // namespace espalier
