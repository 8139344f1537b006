// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// Bytes from the names of files and folders or from a list, as UTF-8: what is UTF-8 stays as it is, anything else is
/// read as Windows-1252, in which older systems and archives of Windows wrote (WHATWG Encoding, windows-1252). So a
/// class has one name, in the data set, in a checkpoint and on the screen, and different names stay different.
[[nodiscard]] std::string readable_text(std::string_view bytes);

/// The names of classes in a file, one a line, empty lines passed over. None if there is no such file.
[[nodiscard]] std::vector<std::string> read_class_names(const std::filesystem::path& file);

} // namespace espalier
