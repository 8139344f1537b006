// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace espalier {

/// An environment variable; empty where it is not set.
[[nodiscard]] std::string environment(const char* name);

/// Where a program of this user keeps what it could make anew: $XDG_CACHE_HOME/espalier, else ~/.cache/espalier; on
/// Windows %LOCALAPPDATA%\espalier\cache. Empty where the system names no such place. Nothing is created.
[[nodiscard]] std::filesystem::path cache_folder();

} // namespace espalier
