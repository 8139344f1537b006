// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"
#include "plan/layout.h"

#include <cstddef>

namespace espalier::cuda {

/// Between host values in row-major order (float for every floating type, std::int32_t, std::uint8_t) and the bytes of
/// a layout, both in host memory. pack() makes padding zero.
void pack(const Tensor& tensor, const Layout& layout, const void* host, std::byte* packed);
void unpack(const Tensor& tensor, const Layout& layout, const std::byte* packed, void* host);

} // namespace espalier::cuda
