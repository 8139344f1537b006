// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/resize.h"

namespace espalier {

struct Thumbnail {
    Image image; ///< 1 or 3 channels, no side longer than asked for
    std::string label;
    std::string file;
};

/// Up to `count` training images, chosen by `seed`, the classes in turn; one image is never taken twice. Of images with
/// neither 1 nor 3 channels the first or the first three are shown. Images that cannot be read are passed over; throws
/// the DataError of one of them if none can.
[[nodiscard]] std::vector<Thumbnail> thumbnails(const Dataset& dataset, std::size_t count, std::int64_t side,
                                                std::uint64_t seed = 1);

} // namespace espalier
