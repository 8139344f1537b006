// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

#include <map>
#include <span>

namespace espalier {

/// Appends the backward ops of `loss` (shape [1]; of another, its sum is what is differentiated) and returns the
/// gradient of each tensor in `with_respect_to`; tensors that the loss does not depend on are absent. Only gradients on
/// the way to those tensors are computed: asking for alpha alone gives a graph without weight gradients. Gradients that
/// meet are added by one `add` with all of them as inputs. `seed`, of the loss's shape, is the gradient of the loss
/// itself, a loss scale; without one it is 1.
std::map<TensorId, TensorId> differentiate(Graph& graph, TensorId loss, std::span<const TensorId> with_respect_to,
                                           TensorId seed = no_tensor);

} // namespace espalier
