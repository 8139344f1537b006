// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace espalier {

/// The order in which `gather_images` takes images from a data set, i32 [places, image_order::columns]: one row a
/// place.
namespace image_order {

enum Column : std::int64_t {
    sample,   ///< index of the image in the data set
    down,     ///< pixels by which it is moved; what comes into sight is black
    right,    ///< the same
    mirrored, ///< 1: left and right are then exchanged
    columns,
};

} // namespace image_order

/// Values that a byte can have: entries a channel of the table that turns bytes into numbers.
inline constexpr std::int64_t byte_values = 256;

} // namespace espalier
