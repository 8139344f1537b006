// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "nn/network_spec.h"

#include <cstdint>

namespace espalier {

/// A network as a person draws it, from the images to the logits, before any pass: an array of
///   {"layer", "kind", "shape", "inputs": [places of earlier nodes], "parameters", "flops" (of the forward)}
/// in the order in which they run; the first is the input, of kind "images" and without a layer. The last two are left
/// out where they are 0. Parameters alone (a softmax of alphas) are no nodes.
[[nodiscard]] Json network_nodes(const NetworkSpec& network, std::int64_t batch);

} // namespace espalier
