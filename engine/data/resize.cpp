// SPDX-License-Identifier: Apache-2.0
#include "data/resize.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

/// Which source lines make one target line, and how much of each.
struct Taps {
    std::int64_t first = 0;
    std::vector<float> weights;
};

/// Those of `count` target lines from `begin` on, of `to` in all.
std::vector<Taps> taps_of(std::int64_t from, std::int64_t to, std::int64_t begin, std::int64_t count) {
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    const double reach = std::max(1.0, scale); // half the width of the triangle, in source pixels
    std::vector<Taps> taps(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        const double centre = (static_cast<double>(begin + i) + 0.5) * scale;
        const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(centre - reach)));
        const auto last = std::min(from, static_cast<std::int64_t>(std::ceil(centre + reach)));
        std::vector<double> weights;
        double sum = 0;
        for (auto at = first; at < last; ++at) {
            weights.push_back(std::max(0.0, 1 - std::abs(static_cast<double>(at) + 0.5 - centre) / reach));
            sum += weights.back();
        }
        auto& tap = taps[static_cast<std::size_t>(i)];
        tap.first = first;
        for (double weight : weights)
            tap.weights.push_back(static_cast<float>(weight / sum));
    }
    return taps;
}

} // namespace

Image resized(const Image& image, std::int64_t height, std::int64_t width) {
    return resized_part(image, height, width, {0, 0, height, width});
}

Image resized_part(const Image& image, std::int64_t height, std::int64_t width, const ImagePart& part) {
    const auto& from = image.shape;
    if (from.height == height && from.width == width)
        return cut_out(image, part.top, part.left, part.height, part.width);
    Image result{{from.channels, part.height, part.width}, {}};
    result.pixels.resize(result.shape.bytes());
    const auto across = taps_of(from.width, width, part.left, part.width),
               down = taps_of(from.height, height, part.top, part.height);
    const auto first = down.front().first; // of the source's lines that the part is made of
    const auto lines = down.back().first + std::ssize(down.back().weights) - first;
    std::vector<float> rows(static_cast<std::size_t>(lines * part.width)); // one channel, already as narrow as the part
    std::vector<float> line(static_cast<std::size_t>(part.width));
    for (std::int64_t channel = 0; channel < from.channels; ++channel) {
        const auto* source = image.pixels.data() + (channel * from.height + first) * from.width;
        for (std::int64_t y = 0; y < lines; ++y)
            for (std::int64_t x = 0; x < part.width; ++x) {
                const auto& tap = across[static_cast<std::size_t>(x)];
                const auto* at = source + y * from.width + tap.first;
                float sum = 0;
                for (float weight : tap.weights)
                    sum += weight * static_cast<float>(*at++);
                rows[static_cast<std::size_t>(y * part.width + x)] = sum;
            }
        auto* target = result.pixels.data() + channel * part.height * part.width;
        for (std::int64_t y = 0; y < part.height; ++y) {
            std::ranges::fill(line, 0.0f);
            const auto& tap = down[static_cast<std::size_t>(y)];
            const auto* row = rows.data() + (tap.first - first) * part.width;
            for (float weight : tap.weights)
                for (auto& value : line)
                    value += weight * *row++;
            for (float value : line)
                *target++ = static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
        }
    }
    return result;
}

ImageShape covering_size(const ImageShape& from, std::int64_t height, std::int64_t width) {
    const double scale = std::max(static_cast<double>(height) / static_cast<double>(from.height),
                                  static_cast<double>(width) / static_cast<double>(from.width));
    const auto scaled = [scale](std::int64_t side, std::int64_t least) {
        return std::max(least, static_cast<std::int64_t>(std::llround(static_cast<double>(side) * scale)));
    };
    return {from.channels, scaled(from.height, height), scaled(from.width, width)};
}

Image cut_out(const Image& image, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width) {
    const auto& from = image.shape;
    if (from.height == height && from.width == width)
        return image;
    Image result{{from.channels, height, width}, {}};
    result.pixels.reserve(result.shape.bytes());
    for (std::int64_t channel = 0; channel < from.channels; ++channel)
        for (std::int64_t y = 0; y < height; ++y) {
            const auto* row = image.pixels.data() + (channel * from.height + top + y) * from.width + left;
            result.pixels.insert(result.pixels.end(), row, row + width);
        }
    return result;
}

Image covering(const Image& image, std::int64_t height, std::int64_t width) {
    const auto whole = covering_size(image.shape, height, width);
    return resized_part(image, whole.height, whole.width,
                        {(whole.height - height) / 2, (whole.width - width) / 2, height, width});
}

Image fitted_into(const Image& image, std::int64_t side) {
    const auto& from = image.shape;
    const auto longer = std::max(from.height, from.width);
    if (longer <= side)
        return image;
    const auto scaled = [&](std::int64_t length) {
        return std::max<std::int64_t>(1, (length * side + longer / 2) / longer);
    };
    return resized(image, scaled(from.height), scaled(from.width));
}

} // namespace espalier
