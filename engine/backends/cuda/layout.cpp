// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/layout.h"

#include "base/error.h"

#include <string>

namespace espalier::cuda {
namespace {

bool whole(std::int64_t channels) { return channels % channel_block == 0; }

/// The order with padding where both are the same bytes.
Order canonical(const Shape& shape, Order order) {
    if (order == Order::channels_last_packed && whole(shape[1]))
        return Order::channels_last;
    if (order == Order::filter_packed && whole(shape[0]) && whole(shape[1]))
        return Order::filter;
    return order;
}

const char* key_of(Order order) {
    switch (order) {
    case Order::plain: return "plain";
    case Order::channels_last: return "nhwc8";
    case Order::channels_last_packed: return "nhwc";
    case Order::filter: return "krsc8";
    case Order::filter_packed: return "krsc";
    case Order::depthwise_filter: return "rsc8";
    }
    return "?";
}

std::int64_t elements_of(const Shape& s, Order order) {
    switch (order) {
    case Order::plain: return s.rank() == 1 ? padded(s[0]) : s.count();
    case Order::channels_last: return s[0] * s[2] * s[3] * padded(s[1]);
    case Order::filter: return padded(s[0]) * s[2] * s[3] * padded(s[1]);
    case Order::depthwise_filter: return s[2] * s[3] * padded(s[0]);
    case Order::channels_last_packed:
    case Order::filter_packed: return s.count();
    }
    return 0;
}

} // namespace

Layout make_layout(const Shape& shape, DType type, Order wanted) {
    if (wanted != Order::plain && shape.rank() != 4)
        throw Error("A layout of images or filters was asked for a tensor of shape " + shape.text() +
                    "; four dimensions were expected.");
    const Order order = canonical(shape, wanted);
    const auto elements = elements_of(shape, order);
    return {key_of(order), static_cast<std::size_t>(elements) * size_of(type),
            std::make_shared<const Description>(Description{order, shape, type, elements})};
}

const Description& description(const Layout& layout) {
    if (!layout.detail)
        throw Error("A tensor has no layout yet where one is needed.");
    return *static_cast<const Description*>(layout.detail.get());
}

Rows rows_of(const Layout& layout) {
    const auto& d = description(layout);
    const auto& s = d.shape;
    switch (d.order) {
    case Order::channels_last: return {s[0], s[2], s[3], s[1], padded(s[1])};
    case Order::channels_last_packed: return {s[0], s[2], s[3], s[1], s[1]};
    default: throw Error("A tensor of shape " + s.text() + " is not in channels-last order, as its kernel needs it.");
    }
}

Strides strides_of(const Layout& layout) {
    const auto& d = description(layout);
    const auto& s = d.shape;
    Strides result;
    if (d.order == Order::plain) {
        // Ranks above four fold their leading dimensions into the first.
        std::int64_t stride = 1;
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t at = 3 - i;
            result.extent[at] = i < s.rank() ? s[s.rank() - 1 - i] : 1;
            result.stride[at] = stride;
            stride *= result.extent[at];
        }
        for (std::size_t i = 4; i < s.rank(); ++i)
            result.extent[0] *= s[s.rank() - 1 - i];
        return result;
    }
    for (std::size_t i = 0; i < 4; ++i)
        result.extent[i] = s[i];
    const auto set = [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t e) {
        result.stride[0] = a, result.stride[1] = b, result.stride[2] = c, result.stride[3] = e;
    };
    if (d.order == Order::depthwise_filter) { // [C,1,R,S] as [R,S,Cp]
        const auto pitch = padded(s[0]);
        set(1, 0, s[3] * pitch, pitch);
        return result;
    }
    // [N,C,H,W] as [N,H,W,Cp], and [K,C,R,S] as [K,R,S,Cp].
    const bool packed = d.order == Order::channels_last_packed || d.order == Order::filter_packed;
    const auto pitch = packed ? s[1] : padded(s[1]);
    set(s[2] * s[3] * pitch, 1, s[3] * pitch, pitch);
    return result;
}

} // namespace espalier::cuda
