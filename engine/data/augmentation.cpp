// SPDX-License-Identifier: Apache-2.0
#include "data/augmentation.h"

#include "base/counted.h"
#include "base/error.h"
#include "data/hash_random.h"

#include <algorithm>

namespace espalier {

void check_augmentation(const Augmentation& augmentation, const ImageShape& shape) {
    const auto side = std::min(shape.height, shape.width);
    if (augmentation.crop < 0)
        throw ConfigError("augmentation.crop is " + std::to_string(augmentation.crop) +
                          ", but a number of pixels was expected. Set augmentation.crop=0 for no cropping.");
    if (augmentation.crop >= side)
        throw ConfigError("augmentation.crop is " + std::to_string(augmentation.crop) + ", but images of " +
                          shape.text() +
                          (side == 1 ? std::string(" leave no room to crop.")
                                     : " can be moved by " + counted(side - 1, "pixel") +
                                           " at most: further, nothing of them would be left.") +
                          " Set augmentation.crop=" + std::to_string(side - 1) + ".");
}

ImageTransform::ImageTransform(ImageShape shape, const ChannelStatistics& statistics, Augmentation augmentation,
                               std::uint64_t seed)
    : shape_(shape), augmentation_(augmentation), seed_(seed) {
    check_augmentation(augmentation, shape);
    if (statistics.mean.size() != static_cast<std::size_t>(shape.channels) ||
        statistics.deviation.size() != statistics.mean.size())
        throw ConfigError("Images of " + shape.text() + " need " + std::to_string(shape.channels) +
                          " means and deviations, but " + std::to_string(statistics.mean.size()) + " and " +
                          std::to_string(statistics.deviation.size()) + " were given.");
    values_.resize(statistics.mean.size());
    for (std::size_t channel = 0; channel < values_.size(); ++channel)
        for (std::size_t value = 0; value < 256; ++value)
            values_[channel][value] = static_cast<float>((static_cast<double>(value) / 255 - statistics.mean[channel]) /
                                                         statistics.deviation[channel]);
}

ImageTransform::Draw ImageTransform::draw(std::int64_t epoch, std::uint32_t sample) const {
    Draw draw;
    HashRandom random{seed_, 0x617567, static_cast<std::uint64_t>(epoch), sample};
    if (augmentation_.crop > 0) {
        const auto places = static_cast<std::uint64_t>(2 * augmentation_.crop + 1);
        draw.down = static_cast<std::int64_t>(random.below(places)) - augmentation_.crop;
        draw.right = static_cast<std::int64_t>(random.below(places)) - augmentation_.crop;
    }
    if (augmentation_.flip)
        draw.mirrored = random.below(2) == 1;
    return draw;
}

void ImageTransform::apply(std::span<const std::uint8_t> in, const Draw& draw, std::span<float> out) const {
    const auto height = shape_.height, width = shape_.width;
    const auto* source = in.data();
    auto* target = out.data();
    // Columns of the target that the moved image covers; the others are black.
    const auto first = std::max<std::int64_t>(0, draw.right), last = width + std::min<std::int64_t>(0, draw.right);
    for (const auto& values : values_) {
        for (std::int64_t y = 0; y < height; ++y, target += width) {
            const auto from = y - draw.down;
            if (from < 0 || from >= height) {
                std::fill_n(target, width, values[0]);
                continue;
            }
            const auto* row = source + from * width - draw.right;
            std::fill(target, target + first, values[0]);
            for (auto x = first; x < last; ++x)
                target[x] = values[row[x]];
            std::fill(target + last, target + width, values[0]);
            if (draw.mirrored)
                std::reverse(target, target + width);
        }
        source += height * width;
    }
}

} // namespace espalier
