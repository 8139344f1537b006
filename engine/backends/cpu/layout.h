// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/onednn_adapter.h"
#include "base/dtype.h"
#include "base/shape.h"
#include "plan/layout.h"

namespace espalier::cpu {

/// What Layout::detail points to. A tensor of rank 4 is stored as [N][C/B][H][W][B], `block` channels together: B = 1
/// is row-major NCHW, B = C is channels last, B = 16 is what the library calls nChw16c. Channels are padded with zeros
/// to a multiple of B. Weights may have an order that the library chose (`library` is set then, and block means
/// nothing). Everything else is row-major (block 1).
struct LayoutDetail {
    std::int64_t block = 1;
    onednn::DescriptionPtr library;
};

/// Row-major.
[[nodiscard]] Layout plain_layout(const Shape& shape, DType type);
/// [N][C/B][H][W][B]; throws std::logic_error unless the rank is 4. A block above C becomes C.
[[nodiscard]] Layout blocked_layout(const Shape& shape, DType type, std::int64_t block);
/// In the library's order; row-major if that is what the description says.
[[nodiscard]] Layout library_layout(const Shape& shape, const onednn::DescriptionPtr& description);

/// Channels to keep together: the vector width if padding to it costs little, else 8, else all channels.
[[nodiscard]] std::int64_t preferred_block(std::int64_t channels, std::int64_t vector_width);

[[nodiscard]] const LayoutDetail& detail_of(const Layout& layout);
[[nodiscard]] bool is_library_layout(const Layout& layout);
/// Extents and block of an activation for the kernels. A tensor of another rank counts as [count, 1, 1, 1].
[[nodiscard]] ActivationShape activation_shape(const Shape& shape, const Layout& layout);

} // namespace espalier::cpu
