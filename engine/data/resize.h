// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/dataset.h"

namespace espalier {

/// An image of any size: planar [C, H, W], 0 to 255.
struct Image {
    ImageShape shape;
    std::vector<std::uint8_t> pixels;
};

/// Resamples with a triangle filter that widens when it shrinks (bilinear without aliasing). The one function that both
/// training and prediction resize with.
[[nodiscard]] Image resized(const Image& image, std::int64_t height, std::int64_t width);

/// Scales the image until it just covers height x width, keeping its proportions: one side fits, the other is as long
/// or longer.
[[nodiscard]] Image scaled_to_cover(const Image& image, std::int64_t height, std::int64_t width);

/// The part of the image that begins at (top, left). Requires that it lies within the image.
[[nodiscard]] Image cut_out(const Image& image, std::int64_t top, std::int64_t left, std::int64_t height,
                            std::int64_t width);

/// Scales the image until it just covers height x width, keeping its proportions, and cuts the middle out. For a
/// square: the shorter side to the size, then a centre crop.
[[nodiscard]] Image covering(const Image& image, std::int64_t height, std::int64_t width);

/// Shrinks the image, keeping its proportions, until no side is longer than `side`; never enlarges it.
[[nodiscard]] Image fitted_into(const Image& image, std::int64_t side);

} // namespace espalier
