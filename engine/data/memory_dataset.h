// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/dataset.h"

#include <array>

namespace espalier {

/// One part of a data set, decoded: `pixels` holds the images one after the other, each [C, H, W].
struct MemoryPart {
    ImageShape image;
    std::vector<std::uint8_t> pixels;
    std::vector<std::uint8_t> labels;
    std::vector<std::uint32_t> positions; ///< place of each image in `source`; empty: its index
    std::string source;                   ///< name of the file of the images
};

/// A data set that is kept in memory as bytes, which is a quarter of what floats would take.
class MemoryDataset final : public Dataset {
public:
    /// A part without labels is one that the set does not have. Throws DataError if the parts do not fit `info`.
    MemoryDataset(DatasetInfo info, MemoryPart train, MemoryPart validation, MemoryPart test,
                  std::vector<std::string> remarks = {});

    [[nodiscard]] std::size_t size(Part part) const override { return of(part).labels.size(); }
    [[nodiscard]] std::int32_t label(Part part, std::size_t index) const override { return of(part).labels[index]; }
    void read(Part part, std::size_t index, std::span<std::uint8_t> out) const override;
    [[nodiscard]] std::string file(Part part, std::size_t index) const override;
    [[nodiscard]] std::string content_hash() const override;
    [[nodiscard]] std::vector<std::string> remarks() const override { return remarks_; }

private:
    [[nodiscard]] const MemoryPart& of(Part part) const { return parts_[static_cast<std::size_t>(part)]; }

    std::array<MemoryPart, 3> parts_;
    std::vector<std::string> remarks_;
};

} // namespace espalier
