// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/file_listing.h"
#include "data/image_store.h"

#include <array>

namespace espalier {

/// An image file that was decoded.
struct DecodedImage {
    std::uint64_t place = 0; ///< of its bytes in the store, [3, height, width]
    std::uint64_t hash = 0;  ///< of its pixels
    std::int32_t height = 0, width = 0;
    std::string fault; ///< why it could not be decoded; then there is nothing else
};

/// All files of a listing, decoded.
struct DecodedImages {
    std::array<std::vector<DecodedImage>, 3> images; ///< by part, as listed
    std::unique_ptr<ImageStore> store;
};

/// Decoded images kept on disk between runs, in one file a data set: a name that says which files at which time were
/// decoded to which size, then the images, an index and a checksum.
class ImageCache {
public:
    /// The cache of that listing at that size. `folder` may be empty: then nothing is found or kept.
    ImageCache(std::filesystem::path folder, const FileListing& listing, const ImageShape& shape,
               const WorkWatch& watch);

    /// What was kept, if it is there and whole. What is damaged is removed.
    [[nodiscard]] std::optional<DecodedImages> load(std::size_t memory, const WorkWatch& watch) const;
    /// A store to decode into, whose file lies here (without a folder: where temporary files do). Files here that
    /// killed processes have left behind go when they are a day old.
    [[nodiscard]] std::unique_ptr<ImageStore> new_store(std::size_t memory) const;
    /// Keeps what was decoded, and removes what was not used for longest so that the cache takes at most half of what
    /// the disk would have free without it. False if that is not enough room, or the disk refuses.
    bool keep(const DecodedImages& decoded) const;

private:
    [[nodiscard]] bool make_room(std::uint64_t bytes) const;
    [[nodiscard]] std::filesystem::path file() const;

    std::filesystem::path folder_;
    std::string key_;
    std::array<std::size_t, 3> counts_{};
};

} // namespace espalier
