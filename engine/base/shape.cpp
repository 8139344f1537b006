// SPDX-License-Identifier: Apache-2.0
#include "base/shape.h"

#include "base/error.h"

#include <algorithm>

namespace espalier {

Shape::Shape(std::span<const std::int64_t> extents) : rank_(extents.size()) {
    if (extents.size() > max_rank)
        throw ConfigError("A shape has at most " + std::to_string(max_rank) + " dimensions, but " +
                          std::to_string(extents.size()) + " were given.");
    if (std::ranges::any_of(extents, [](std::int64_t extent) { return extent < 0; }))
        throw ConfigError("The extents of a shape must not be negative.");
    std::ranges::copy(extents, extents_.begin());
}

std::int64_t Shape::count() const noexcept {
    std::int64_t product = 1;
    for (auto extent : extents())
        product *= extent;
    return product;
}

std::string Shape::text() const {
    std::string text;
    for (auto extent : extents())
        text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text.empty() ? "scalar" : text;
}

} // namespace espalier
