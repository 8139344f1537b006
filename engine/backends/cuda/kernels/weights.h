// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::cuda {

/// A filter or a matrix of the type of its convolution; or f32 beside halves, to which it is rounded as it is read.
struct Weights {
    const void* data = nullptr;
    bool f32 = false; ///< beside halves
};

} // namespace espalier::cuda
