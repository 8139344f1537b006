// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace espalier {

/// What the first bytes of a file look like that is not what it should be, as half a sentence: "it looks like a web
/// page (HTML), ...", or the bytes themselves where they are nobody's.
[[nodiscard]] std::string likely_content(std::span<const std::uint8_t> bytes);

/// Throws DataError if the bytes are an image of a format whose decoder fills up what is missing (JPEG, GIF, BMP), and
/// some is. Also for a CMYK JPEG that does not say what its numbers mean. `name` stands in the messages.
void check_image_is_whole(std::span<const std::uint8_t> bytes, const std::string& name);

/// The same of a PNG, before it is decoded: libpng refuses it, but prints so to stderr without the file's name.
void check_png_is_whole(std::span<const std::uint8_t> bytes, const std::string& name);

} // namespace espalier
