// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace espalier {

/// A text file that grows by whole lines, whatever becomes of the disk: what it refuses half-way is taken back, so that
/// the next lines, once there is room again, do not stand behind half of one. One writer a file.
class AppendedFile {
public:
    /// What becomes of a line that a sudden death left unfinished: its end, so that who follows the file misses
    /// nothing, or nothing.
    enum class HalfLine { is_ended, is_removed };
    /// Opens the file, making it if need be. Throws Error naming the file if it cannot be opened.
    AppendedFile(std::filesystem::path path, HalfLine half);

    /// Writes the lines and flushes them out of the program: all, or none and an Error that names the file.
    void append(std::string_view lines);
    [[nodiscard]] bool is_empty() const { return size_ == 0; }

private:
    void open();
    [[noreturn]] void fail() const;

    std::filesystem::path path_;
    std::ofstream stream_;
    std::uintmax_t size_ = 0;
};

} // namespace espalier
