// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/resize.h"

#include <filesystem>

namespace espalier {

/// Reads an image file (PNG, JPEG, GIF, BMP and what else Qt's plugins know), judged by its content and not by its
/// name. One rule for all of them:
///   turned upright as its EXIF orientation says; transparency laid over white; reduced to 8 bits;
///   one channel: grey = 0.299 R + 0.587 G + 0.114 B; three channels: R, G, B (grey images have three equal ones).
///   CMYK (JPEGs with Adobe's marker; without it their colours are undefined, and they are refused) becomes
///   R = (1 - C) (1 - K) and so on.
/// `channels` must be 1 or 3. Throws DataError naming the file if it cannot be read, ends too early, or is larger than
/// 512 MiB, packed or unpacked.
///
/// With `enough` > 0 a JPEG may come smaller, decoded at 1/8 to 7/8 of its size, which is much faster: no side is then
/// shorter than twice `enough`, so that scaling it down to that leaves no trace of it. `original`, if given, takes the
/// size that the image has in the file, upright.
[[nodiscard]] Image decode_image_file(const std::filesystem::path& path, std::int64_t channels, std::int64_t enough = 0,
                                      ImageShape* original = nullptr);
/// The same for a file's bytes; `name` stands in the messages.
[[nodiscard]] Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name, std::int64_t channels,
                                 std::int64_t enough = 0, ImageShape* original = nullptr);

/// As a PNG file's bytes. Requires 1 or 3 channels.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Image& image);

} // namespace espalier
