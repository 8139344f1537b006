// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/layout.h"

#include <algorithm>
#include <stdexcept>

namespace espalier::cpu {

namespace {

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

Layout layout_with(std::string key, std::size_t bytes, LayoutDetail detail) {
    return {std::move(key), bytes, std::make_shared<const LayoutDetail>(std::move(detail))};
}

} // namespace

Layout plain_layout(const Shape& shape, DType type) {
    return layout_with("plain", static_cast<std::size_t>(shape.count()) * size_of(type), {});
}

Layout blocked_layout(const Shape& shape, DType type, std::int64_t block) {
    if (shape.rank() != 4) {
        throw std::logic_error("only tensors of rank 4 are blocked, not " + shape.text());
    }
    block = std::min(block, std::max<std::int64_t>(shape[1], 1));
    if (block <= 1) {
        return plain_layout(shape, type);
    }
    const std::int64_t count = shape[0] * round_up(shape[1], block) * shape[2] * shape[3];
    return layout_with("blocked" + std::to_string(block), static_cast<std::size_t>(count) * size_of(type), {block, {}});
}

Layout library_layout(const Shape& shape, const onednn::DescriptionPtr& description) {
    if (onednn::is_row_major(*description)) {
        return plain_layout(shape, DType::f32);
    }
    return layout_with(onednn::key(*description), onednn::bytes(*description), {1, description});
}

std::int64_t preferred_block(std::int64_t channels, std::int64_t vector_width) {
    for (const std::int64_t block : {vector_width, std::int64_t{8}}) {
        if (3 * round_up(channels, block) <= 4 * channels) {
            return block;
        }
    }
    return channels;
}

const LayoutDetail& detail_of(const Layout& layout) { return *static_cast<const LayoutDetail*>(layout.detail.get()); }

bool is_library_layout(const Layout& layout) { return layout.defined() && detail_of(layout).library != nullptr; }

ActivationShape activation_shape(const Shape& shape, const Layout& layout) {
    if (shape.rank() != 4) {
        return {shape.count(), 1, 1, 1, 1};
    }
    return {shape[0], shape[1], shape[2], shape[3], detail_of(layout).block};
}

} // namespace espalier::cpu
