// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace espalier {

/// The text of every file in resources/presets, in the order of engine/train/CMakeLists.txt. The source behind it is
/// written at build time (cmake/EmbedTexts.cmake).
[[nodiscard]] std::span<const std::string_view> preset_files();

} // namespace espalier
