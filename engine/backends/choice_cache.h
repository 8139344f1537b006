// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// What was found out by timing, kept on disk for later processes: a choice for each problem. A file belongs to one
/// `device` (a text of everything outside of the problems that decides: card, driver, library, limits) and is named by
/// it; what another device or an older release wrote is never read. Processes may write at the same time: each replaces
/// the file whole, with what stands there merged in, so that at worst a choice is found out once more. Nothing here
/// throws: a file that cannot be used or written is a warning.
class ChoiceCache {
public:
    /// Reads what is there. An empty folder: nothing is read or kept.
    ChoiceCache(std::filesystem::path folder, std::string device);

    [[nodiscard]] std::optional<Json> find(const std::string& problem) const;
    void put(const std::string& problem, Json choice);
    /// Writes what was put since the last time, if anything was.
    void save();
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
    [[nodiscard]] const std::filesystem::path& file() const { return file_; }

    static constexpr std::size_t most_choices = 4096; ///< in a file: the oldest give way
    static constexpr std::size_t most_files = 16;     ///< in a folder: the one longest not written gives way

private:
    using Choices = std::vector<std::pair<std::string, Json>>;
    [[nodiscard]] Choices read();
    [[nodiscard]] std::string text_of(const Choices& choices) const;
    void warn_unusable(const std::string& fault);
    void remove_old_files() const;

    std::string device_;
    std::filesystem::path file_;
    std::map<std::string, Json> choices_;
    std::vector<std::string> new_; ///< problems put since the last save
    std::vector<std::string> warnings_;
};

} // namespace espalier
