// SPDX-License-Identifier: Apache-2.0
#include "data/thumbnails.h"

#include "base/error.h"
#include "data/batches.h"

#include <exception>

namespace espalier {
namespace {

/// Images of each class, so many at most, in the order in which they are tried.
std::vector<std::vector<std::uint32_t>> candidates(const Dataset& dataset, std::size_t most, std::uint64_t seed) {
    std::vector<std::vector<std::uint32_t>> of_class(dataset.classes());
    for (const auto index : epoch_order(dataset.size(Part::train), seed, 0)) {
        auto& members = of_class[static_cast<std::size_t>(dataset.label(Part::train, index))];
        if (members.size() < most)
            members.push_back(index);
    }
    return of_class;
}

Thumbnail thumbnail(const Dataset& dataset, std::uint32_t index, std::int64_t side) {
    Image image{dataset.image(), std::vector<std::uint8_t>(dataset.image().bytes())};
    dataset.read(Part::train, index, image.pixels);
    image.shape.channels = image.shape.channels < 3 ? 1 : 3;
    image.pixels.resize(image.shape.bytes());
    const auto label = static_cast<std::size_t>(dataset.label(Part::train, index));
    return {fitted_into(image, side), dataset.info().classes[label], dataset.file(Part::train, index)};
}

} // namespace

std::vector<Thumbnail> thumbnails(const Dataset& dataset, std::size_t count, std::int64_t side, std::uint64_t seed) {
    constexpr std::size_t tries = 4; // for an image that can be read; a scan names those that cannot
    const auto of_class = candidates(dataset, tries * count, seed);
    std::vector<std::size_t> tried(of_class.size());
    std::vector<Thumbnail> result;
    std::exception_ptr unreadable;
    // One of each class, then the second of each, and so on.
    for (bool more = true; more && result.size() < count;) {
        more = false;
        for (std::size_t i = 0; i < of_class.size() && result.size() < count; ++i)
            for (bool found = false; !found && tried[i] < of_class[i].size();)
                try {
                    result.push_back(thumbnail(dataset, of_class[i][tried[i]++], side));
                    found = more = true;
                } catch (const DataError&) {
                    unreadable = std::current_exception();
                }
    }
    if (result.empty() && unreadable)
        std::rethrow_exception(unreadable);
    return result;
}

} // namespace espalier
