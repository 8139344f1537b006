// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace espalier {

/// Attributes of separable_conv2d and its gradients (which read what they need), and the places of what they take and
/// give. The pass fuse_separable makes them; docs/OPS.md says what they compute.
struct Separable {
    bool input_relu = false; ///< attribute input_activation
    bool relu = false;       ///< attribute activation, of y
    double eps = 1e-5;
    double momentum = 0.1;
    bool update_running = true;

    static Separable from(const Attributes& attributes);

    enum Input : std::size_t {
        x,
        filter,
        matrix,
        running_mean,
        running_var,
        mean,
        inv_std,
        weight,
        bias,
        z_weight,
        z_bias,
        residual
    };
    enum Output : std::size_t { d, z, y, z_mean, z_inv_std };
};

struct SeparablePointwiseGradient {
    enum Input : std::size_t { gy, z, mean, inv_std, gweight, gbias, d, matrix, weight };
    enum Output : std::size_t { gd, gmatrix };
};

struct SeparableDepthwiseGradient {
    enum Input : std::size_t { gd, x, filter, mean, inv_std, weight, bias };
    enum Output : std::size_t { gx, gweight, gbias };
};

struct SeparableFilterGradient {
    enum Input : std::size_t { gd, x, mean, inv_std, weight, bias };
    enum Output : std::size_t { gfilter };
};

} // namespace espalier
