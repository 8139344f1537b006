// SPDX-License-Identifier: Apache-2.0
#include "base/user_folders.h"

#include <cstdlib>

namespace espalier {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::filesystem::path cache_folder() {
#ifdef _WIN32
    if (const auto data = environment("LOCALAPPDATA"); !data.empty())
        return std::filesystem::path(data) / "espalier" / "cache";
#else
    // The XDG rules: a relative path in the variable does not count.
    if (const auto cache = environment("XDG_CACHE_HOME"); cache.starts_with('/'))
        return std::filesystem::path(cache) / "espalier";
    if (const auto home = environment("HOME"); !home.empty())
        return std::filesystem::path(home) / ".cache" / "espalier";
#endif
    return {};
}

} // namespace espalier
