// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace espalier {

/// Attributes of batch_norm, batch_norm_apply, batch_norm_inference and batch_norm_gradient (which read what they
/// need).
struct BatchNorm {
    double eps = 1e-5;
    double momentum = 0.1;
    bool update_running = true;
    bool relu = false;

    static BatchNorm from(const Attributes& attributes);

    // Places of the inputs and computed outputs of batch_norm.
    enum Input : std::size_t { x, weight, bias, running_mean, running_var, residual };
    enum Output : std::size_t { y, mean, inv_std };
};

/// Places of the inputs and outputs of batch_norm_gradient; `y` is read when the batch norm ends in a ReLU.
struct BatchNormGradient {
    enum Input : std::size_t { x, gy, mean, inv_std, weight, bias, y };
    enum Output : std::size_t { gx, gweight, gbias, gresidual };
};

} // namespace espalier
