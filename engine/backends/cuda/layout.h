// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/dtype.h"
#include "base/shape.h"
#include "plan/layout.h"

#include <cstdint>

namespace espalier::cuda {

/// Channels are padded to a multiple of this, so that eight halves, or two vectors of four floats, are always whole.
/// Padding is zero in every tensor, and every kernel keeps it so.
inline constexpr std::int64_t channel_block = 8;

[[nodiscard]] constexpr std::int64_t padded(std::int64_t channels) {
    return (channels + channel_block - 1) / channel_block * channel_block;
}

/// The order of a tensor's elements in device memory.
enum class Order {
    plain,            ///< row-major. One dimension alone is padded to channel_block
    channels_last,    ///< [N,C,H,W] as [N,H,W,Cp], Cp = padded(C)
    channels_last_packed, ///< the same without padding: grouped convolutions whose groups would be torn apart
    filter,           ///< [K,C,R,S] as [Kp,R,S,Cp]
    filter_packed,    ///< the same without padding
    depthwise_filter, ///< [C,1,R,S] as [R,S,Cp]
};

/// What Layout::detail is on this backend.
struct Description {
    Order order = Order::plain;
    Shape shape;                 ///< as the graph has it
    DType type = DType::f32;
    std::int64_t elements = 0;   ///< with padding
};

/// Layout of a tensor in that order. channels_last and filter of whole blocks are the same as packed, and have one
/// key. Rank must be 4 for every order but plain.
[[nodiscard]] Layout make_layout(const Shape& shape, DType type, Order order);
[[nodiscard]] const Description& description(const Layout& layout);

/// An activation [N,C,H,W] (or [N,C], [N,C,L]) as kernels read it: rows of `pitch` channels, `channels` of them real.
struct Rows {
    std::int64_t n = 1, h = 1, w = 1;
    std::int64_t channels = 1;
    std::int64_t pitch = 1; ///< elements from one pixel to the next
    [[nodiscard]] std::int64_t count() const { return n * h * w; }
};
/// Of a channels_last layout.
[[nodiscard]] Rows rows_of(const Layout& layout);

/// Where the element of a row-major index lies, counted in elements: the one definition of each order, on which copies
/// between host and device and reorders stand. Strides of [d0,d1,d2,d3] with missing leading dimensions 1.
struct Strides {
    std::int64_t extent[4] = {1, 1, 1, 1};
    std::int64_t stride[4] = {0, 0, 0, 0};
};
[[nodiscard]] Strides strides_of(const Layout& layout);

} // namespace espalier::cuda
