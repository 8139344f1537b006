// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/weights.h"

#include <type_traits>

namespace espalier::cuda {

/// Calls body(elements) with a pointer to what the weights of a convolution of T are. Every thread takes the same way.
template <class T, class Body>
__device__ void with_elements(const Weights& weights, Body&& body) {
    if constexpr (!std::is_same_v<T, float>)
        if (weights.f32)
            return body(static_cast<const float*>(weights.data));
    body(static_cast<const T*>(weights.data));
}

} // namespace espalier::cuda
