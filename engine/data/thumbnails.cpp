// SPDX-License-Identifier: Apache-2.0
#include "data/thumbnails.h"

#include "data/batches.h"

#include <algorithm>

namespace espalier {
namespace {

/// The images in the order in which they are shown: one of each class, then the second of each, and so on.
std::vector<std::uint32_t> classes_in_turn(const Dataset& dataset, std::size_t count, std::uint64_t seed) {
    std::vector<std::vector<std::uint32_t>> of_class(dataset.classes());
    for (const auto index : epoch_order(dataset.size(Part::train), seed, 0)) {
        auto& members = of_class[static_cast<std::size_t>(dataset.label(Part::train, index))];
        if (members.size() < count)
            members.push_back(index);
    }
    std::vector<std::uint32_t> chosen;
    for (std::size_t round = 0; round < count; ++round)
        for (const auto& members : of_class)
            if (round < members.size() && chosen.size() < count)
                chosen.push_back(members[round]);
    return chosen;
}

} // namespace

std::vector<Thumbnail> thumbnails(const Dataset& dataset, std::size_t count, std::int64_t side, std::uint64_t seed) {
    count = std::min(count, dataset.size(Part::train));
    std::vector<Thumbnail> result;
    for (const auto index : classes_in_turn(dataset, count, seed)) {
        Image image{dataset.image(), std::vector<std::uint8_t>(dataset.image().bytes())};
        dataset.read(Part::train, index, image.pixels);
        image.shape.channels = image.shape.channels < 3 ? 1 : 3;
        image.pixels.resize(image.shape.bytes());
        const auto label = static_cast<std::size_t>(dataset.label(Part::train, index));
        result.push_back({fitted_into(image, side), dataset.info().classes[label], dataset.file(Part::train, index)});
    }
    return result;
}

} // namespace espalier
