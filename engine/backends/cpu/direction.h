// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::cpu {

/// What of a convolution is computed: y from x and w, the gradient of x from gy and w, the gradient of w from x and gy.
enum class Direction { forward, input_gradient, weight_gradient };

} // namespace espalier::cpu
