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

/// A rectangle of an image's pixels.
struct ImagePart {
    std::int64_t top = 0, left = 0, height = 0, width = 0;
};

/// That part alone of resized(image, height, width), bit by bit. Takes no more time and memory than the part needs,
/// however long the whole would be. Requires that the part lies within the whole.
[[nodiscard]] Image resized_part(const Image& image, std::int64_t height, std::int64_t width, const ImagePart& part);

/// The size of an image that is scaled, keeping its proportions, until it just covers height x width: one side fits,
/// the other is as long or longer.
[[nodiscard]] ImageShape covering_size(const ImageShape& from, std::int64_t height, std::int64_t width);

/// The part of the image that begins at (top, left). Requires that it lies within the image.
[[nodiscard]] Image cut_out(const Image& image, std::int64_t top, std::int64_t left, std::int64_t height,
                            std::int64_t width);

/// Scales the image until it just covers height x width, keeping its proportions, and cuts the middle out. For a
/// square: the shorter side to the size, then a centre crop.
[[nodiscard]] Image covering(const Image& image, std::int64_t height, std::int64_t width);

/// Shrinks the image, keeping its proportions, until no side is longer than `side`; never enlarges it.
[[nodiscard]] Image fitted_into(const Image& image, std::int64_t side);

} // namespace espalier
