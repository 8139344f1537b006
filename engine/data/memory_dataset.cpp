// SPDX-License-Identifier: Apache-2.0
#include "data/memory_dataset.h"

#include "base/counted.h"
#include "base/error.h"
#include "data/content_hash.h"

#include <cstring>

namespace espalier {

MemoryDataset::MemoryDataset(DatasetInfo info, MemoryPart train, MemoryPart validation, MemoryPart test,
                             std::vector<std::string> remarks)
    : Dataset(std::move(info)), parts_{std::move(train), std::move(validation), std::move(test)},
      remarks_(std::move(remarks)) {
    for (const auto& part : parts_) {
        if (part.labels.empty())
            continue;
        if (part.image != image())
            throw DataError("The images of '" + part.source + "' are " + part.image.text() +
                            ", but those of the training part are " + image().text() +
                            ". All parts must have the same size.");
        if (part.pixels.size() != part.labels.size() * image().bytes())
            throw DataError("'" + part.source + "' holds " + std::to_string(part.pixels.size()) +
                            " bytes of pixels, but " + counted(part.labels.size(), "image") + " of " + image().text() +
                            " need " + std::to_string(part.labels.size() * image().bytes()) + ".");
    }
}

void MemoryDataset::read(Part part, std::size_t index, std::span<std::uint8_t> out) const {
    std::memcpy(out.data(), of(part).pixels.data() + index * image().bytes(), image().bytes());
}

std::string MemoryDataset::file(Part part, std::size_t index) const {
    const auto& from = of(part);
    return from.source + ", image " + std::to_string(from.positions.empty() ? index : from.positions[index]);
}

std::string MemoryDataset::content_hash() const {
    ContentHash hash;
    hash.add(image().text());
    for (const auto& name : info().classes)
        hash.add(name);
    for (const auto& part : parts_) {
        hash.add(part.labels);
        hash.add(part.pixels);
    }
    return hash.text();
}

} // namespace espalier
