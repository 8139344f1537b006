// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/dataset.h"
#include "data/statistics.h"

#include <array>

namespace espalier {

/// What is done to a training image at random.
struct Augmentation {
    std::int64_t crop = 0; ///< black pixels put on every side before a random crop back to the old size
    bool flip = false;     ///< left and right exchanged, with probability 1/2

    friend bool operator==(const Augmentation&, const Augmentation&) = default;
};

/// Throws ConfigError, saying what would do, if the crop is negative or not smaller than images of that shape.
void check_augmentation(const Augmentation& augmentation, const ImageShape& shape);

/// Turns bytes into the network's input: (value / 255 - mean) / deviation of each channel, augmented. What happens to
/// an image is a function of (seed, epoch, its index in the data set) alone. May be used by several threads at once.
class ImageTransform {
public:
    /// Throws what check_augmentation throws, and ConfigError if the statistics have another number of channels.
    ImageTransform(ImageShape shape, const ChannelStatistics& statistics, Augmentation augmentation,
                   std::uint64_t seed);

    /// The random part of an image: it is moved by (down, right) pixels, then mirrored.
    struct Draw {
        std::int64_t down = 0;
        std::int64_t right = 0;
        bool mirrored = false;
    };
    [[nodiscard]] Draw draw(std::int64_t epoch, std::uint32_t sample) const;

    /// Of each channel, what each byte becomes.
    [[nodiscard]] const std::vector<std::array<float, 256>>& values() const { return values_; }

    /// `in` and `out` are [C, H, W].
    void apply(std::span<const std::uint8_t> in, const Draw& draw, std::span<float> out) const;

private:
    ImageShape shape_;
    Augmentation augmentation_;
    std::uint64_t seed_;
    std::vector<std::array<float, 256>> values_;
};

} // namespace espalier
