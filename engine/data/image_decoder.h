// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/resize.h"

namespace espalier {

/// Reads an image file (PNG, JPEG, GIF, BMP and what else Qt's plugins know), judged by its content and not by its
/// name. One rule for all of them:
///   turned upright as its EXIF orientation says; transparency laid over white; reduced to 8 bits;
///   one channel: grey = 0.299 R + 0.587 G + 0.114 B; three channels: R, G, B (grey images have three equal ones).
/// `channels` must be 1 or 3. Throws DataError naming the file if it cannot be read, ends too early, or is larger than
/// 512 MiB unpacked.
[[nodiscard]] Image decode_image_file(const std::string& path, std::int64_t channels);
/// The same for a file's bytes; `name` stands in the messages.
[[nodiscard]] Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name, std::int64_t channels);

/// As a PNG file's bytes. Requires 1 or 3 channels.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Image& image);

} // namespace espalier
