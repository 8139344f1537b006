// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/op_registry.h"

namespace espalier {

// One function a family, each in the file of its name; register.cpp calls them all.
void register_convolution(OpRegistry& registry);
void register_linear(OpRegistry& registry);
void register_normalization(OpRegistry& registry);
void register_activation(OpRegistry& registry);
void register_pooling(OpRegistry& registry);
void register_separable(OpRegistry& registry);
void register_elementwise(OpRegistry& registry);
void register_weighted_sum(OpRegistry& registry);
void register_cast(OpRegistry& registry);
void register_concat(OpRegistry& registry);
void register_data(OpRegistry& registry);
void register_softmax(OpRegistry& registry);
void register_loss(OpRegistry& registry);
void register_update(OpRegistry& registry);

/// For ops with an `activation` attribute: the gradient behind it, that is relu_gradient of the op's first output, or
/// the output's gradient itself where there is no activation.
[[nodiscard]] TensorId through_activation(const GradientRequest& request);

} // namespace espalier
