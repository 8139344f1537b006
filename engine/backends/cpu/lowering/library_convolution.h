// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/direction.h"
#include "backends/cpu/lowering/lowering.h"
#include "graph/ops/convolution.h"

namespace espalier::cpu {

/// A convolution as the ops say it: x, w and y of the forward direction, whichever of them is computed.
struct ConvolutionGeometry {
    Shape x, w, y;
    Convolution attributes;
};

/// Where x, w and y, or their gradients, stand in an op of one direction.
struct ConvolutionPlaces {
    struct Place {
        bool input;
        std::size_t position;
    };
    Place x, w, y;

    static ConvolutionPlaces of(Direction direction);
};

/// One convolution as a kernel of oneDNN, with the layouts of all three tensors that make the library fast. Throws
/// DeviceError if it has none.
[[nodiscard]] Lowered lower_by_library(const Context& context, const ConvolutionGeometry& geometry,
                                       Direction direction);

} // namespace espalier::cpu
