// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_operations.h"

#include <string_view>

namespace espalier {

/// A file that is there whole or not at all: written under a temporary name in the same folder, synced, renamed over
/// `path`, and the folder synced. Without commit() nothing of it stays.
class AtomicFile {
public:
    /// Throws Error if the folder cannot be written.
    explicit AtomicFile(std::filesystem::path path, FileOperations& operations = FileOperations::system());
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// Throws Error (disk full, for example).
    void write(const void* data, std::size_t bytes);
    void write(std::string_view text) { write(text.data(), text.size()); }
    /// Throws Error if the bytes do not reach the disk, or if the rename is still denied after about half a second: on
    /// Windows an indexer or virus scanner may hold the file that stands at `path`.
    void commit();
    /// The same, but where the rename to `path` stays denied, a new name beside it is taken ("step-5.safetensors"
    /// becomes "step-5~1.safetensors"). Returns the name in force.
    std::filesystem::path commit_here_or_beside();

    /// Temporary files of AtomicFile (of a process that died) end so: readers of a folder skip them.
    static bool is_temporary(const std::filesystem::path& path);

private:
    void finish_writing();
    std::error_code put_in_place(const std::filesystem::path& to);
    [[noreturn]] void fail(const std::string& what, const std::error_code& error) const;

    std::filesystem::path path_;
    std::filesystem::path temporary_;
    FileOperations& operations_;
    std::FILE* file_ = nullptr;
    bool committed_ = false;
};

/// Renames; while that is denied it is tried again for about half a second. On Windows an indexer or virus scanner
/// holds a new file for a moment.
[[nodiscard]] std::error_code rename_patiently(const std::filesystem::path& from, const std::filesystem::path& to,
                                               FileOperations& operations = FileOperations::system());

/// AtomicFile with all of its bytes at hand.
void write_file_atomically(const std::filesystem::path& path, std::string_view text,
                           FileOperations& operations = FileOperations::system());

} // namespace espalier
