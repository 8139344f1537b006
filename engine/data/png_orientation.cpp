// SPDX-License-Identifier: Apache-2.0
#include "data/png_orientation.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace espalier {
namespace {

constexpr int lies_upright = 1, last_orientation = 8;

/// `size` bytes from `at` on, in either order; 0 where they are not there.
std::size_t number(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t size, bool little = false) {
    if (at > bytes.size() || size > bytes.size() - at)
        return 0;
    std::size_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
        value = value << 8 | bytes[at + (little ? size - 1 - i : i)];
    return value;
}

/// EXIF is a TIFF file without an image: a header, then a list of tags.
int exif_orientation(std::span<const std::uint8_t> tiff) {
    constexpr std::size_t orientation = 0x0112, of_16_bits = 3, entry_bytes = 12;
    const bool little = number(tiff, 0, 2) == 0x4949; // "II"
    const auto list = number(tiff, 4, 4, little), count = number(tiff, list, 2, little);
    for (std::size_t i = 0; i < count; ++i) {
        const auto entry = list + 2 + i * entry_bytes;
        if (number(tiff, entry, 2, little) != orientation || number(tiff, entry + 2, 2, little) != of_16_bits)
            continue;
        const auto value = static_cast<int>(number(tiff, entry + 8, 2, little));
        return value >= lies_upright && value <= last_orientation ? value : lies_upright;
    }
    return lies_upright;
}

} // namespace

int png_orientation(std::span<const std::uint8_t> bytes) {
    constexpr std::size_t signature = 8, around = 12; // of a chunk: its length, name and checksum
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (auto at = signature; at + around <= bytes.size();) {
        const auto length = number(bytes, at, 4);
        if (text.substr(at + 4, 4) == "eXIf")
            return exif_orientation(bytes.subspan(at + 8, std::min(length, bytes.size() - at - around)));
        at += around + length;
    }
    return lies_upright;
}

} // namespace espalier
