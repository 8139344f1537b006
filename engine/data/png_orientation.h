// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace espalier {

/// How a PNG lies, as its eXIf chunk says (PNG 3, 11.3.4.5; EXIF 2.32, tag 0x0112): 1 (upright) to 8. 1 too where it
/// says nothing, or what makes no sense. The window, which links the protocol and nothing else of the engine, has its
/// own reader (widgets/image_file.cpp); the photos of tests/turned_photos.h hold both to one rule.
[[nodiscard]] int png_orientation(std::span<const std::uint8_t> bytes);

} // namespace espalier
