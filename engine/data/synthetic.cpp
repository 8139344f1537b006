// SPDX-License-Identifier: Apache-2.0
#include "data/synthetic.h"

#include "base/error.h"
#include "data/content_hash.h"
#include "data/hash_random.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace espalier {
namespace {

constexpr std::int64_t grid =
    6; // a pattern is grid x grid random values a channel, interpolated, repeating beyond its edges

class SyntheticDataset final : public Dataset {
public:
    SyntheticDataset(DatasetInfo info, const SyntheticSettings& settings)
        : Dataset(std::move(info)), settings_(settings) {}

    std::size_t size(Part part) const override {
        const auto count = static_cast<std::size_t>(settings_.count);
        return part == Part::train ? count : part == Part::validation ? (count + 3) / 4 : 0;
    }
    std::int32_t label(Part, std::size_t index) const override {
        return static_cast<std::int32_t>(index % static_cast<std::size_t>(settings_.classes));
    }
    std::string file(Part part, std::size_t index) const override {
        return std::string("synthetic ") + std::string(name_of(part)) + " image " + std::to_string(index);
    }
    std::string content_hash() const override {
        ContentHash hash;
        hash.add(info().spec);
        hash.add(settings_.seed);
        return hash.text();
    }
    void read(Part part, std::size_t index, std::span<std::uint8_t> out) const override;

private:
    SyntheticSettings settings_;
};

/// One axis of the interpolation: the two grid lines around each pixel and the share of the second, in 1/256.
struct Axis {
    std::vector<std::int32_t> first, second, share;

    Axis(std::int64_t size, double shift) : first(size), second(size), share(size) {
        for (std::int64_t i = 0; i < size; ++i) {
            const double at = static_cast<double>(i * grid) / static_cast<double>(size) + shift + grid;
            const auto line = static_cast<std::int32_t>(at);
            first[i] = line % grid;
            second[i] = (line + 1) % grid;
            share[i] = static_cast<std::int32_t>((at - line) * 256);
        }
    }
};

void SyntheticDataset::read(Part part, std::size_t index, std::span<std::uint8_t> out) const {
    const auto& shape = image();
    const auto sample = HashRandom{settings_.seed, 2, static_cast<std::uint64_t>(part), index};
    auto random = sample;
    const double largest_shift = grid / 8.0;
    const Axis rows(shape.height, (2 * random.uniform() - 1) * largest_shift);
    const Axis columns(shape.width, (2 * random.uniform() - 1) * largest_shift);
    const auto contrast = static_cast<std::int32_t>(96 + random.below(97)); // 3/8 to 6/8 of the range, in 1/256
    const auto brightness = static_cast<std::int32_t>(random.below(65)) - 32;

    auto* pixel = out.data();
    for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
        HashRandom values{settings_.seed, 1, static_cast<std::uint64_t>(label(part, index)),
                          static_cast<std::uint64_t>(channel)};
        std::int32_t pattern[grid][grid];
        for (auto& row : pattern)
            for (auto& value : row)
                value = static_cast<std::int32_t>(values.below(256)) - 128;
        for (std::int64_t y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.width; ++x) {
                const auto* upper = pattern[rows.first[y]];
                const auto* lower = pattern[rows.second[y]];
                const auto left = columns.first[x], right = columns.second[x], across = columns.share[x],
                           down = rows.share[y];
                const auto above = upper[left] * (256 - across) + upper[right] * across;
                const auto below = lower[left] * (256 - across) + lower[right] * across;
                const auto smooth = (above * (256 - down) + below * down) / 65536;
                const auto noise = static_cast<std::int32_t>(random.below(49)) - 24;
                *pixel++ =
                    static_cast<std::uint8_t>(std::clamp(128 + brightness + smooth * contrast / 128 + noise, 0, 255));
            }
    }
}

std::int64_t number(std::string_view text, const char* what, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
        throw ConfigError("The " + std::string(what) + " of a synthetic data set must be " + std::to_string(least) +
                          " to " + std::to_string(most) + ", but is '" + std::string(text) +
                          "'. For example: synthetic:3x32x32,10,1000.");
    return value;
}

std::vector<std::string_view> fields_of(std::string_view text, char separator) {
    std::vector<std::string_view> fields;
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find(separator, at), text.size());
        fields.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return fields;
}

} // namespace

SyntheticSettings parse_synthetic(const std::string& text) {
    const auto fields = fields_of(text, ',');
    const auto sides = fields_of(fields[0], 'x');
    if (fields.size() < 3 || fields.size() > 4 || sides.size() != 3)
        throw ConfigError("A synthetic data set is written synthetic:CxHxW,classes,count[,seed], for example "
                          "synthetic:3x32x32,10,1000, but 'synthetic:" +
                          text + "' was given.");
    SyntheticSettings settings;
    settings.image = {number(sides[0], "number of channels", 1, 16), number(sides[1], "height", 1, 4096),
                      number(sides[2], "width", 1, 4096)};
    settings.classes = number(fields[1], "number of classes", 1, 10'000);
    settings.count = number(fields[2], "number of images", 1, 100'000'000);
    if (fields.size() == 4)
        settings.seed = static_cast<std::uint64_t>(number(fields[3], "seed", 0, INT64_MAX));
    return settings;
}

std::shared_ptr<const Dataset> make_synthetic(const SyntheticSettings& settings) {
    DatasetInfo info{.spec = "synthetic:" + settings.image.text() + "," + std::to_string(settings.classes) + "," +
                             std::to_string(settings.count) + "," + std::to_string(settings.seed),
                     .kind = "synthetic",
                     .classes = {},
                     .image = settings.image};
    for (std::int64_t i = 0; i < settings.classes; ++i)
        info.classes.push_back("pattern " + std::to_string(i));
    return std::make_shared<SyntheticDataset>(std::move(info), settings);
}

} // namespace espalier
