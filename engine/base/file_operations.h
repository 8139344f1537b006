// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

namespace espalier {

/// The steps of a write that survives a crash. Tests put in their own to fail, or to die, at each of them.
class FileOperations {
public:
    FileOperations() = default;
    FileOperations(const FileOperations&) = delete;
    FileOperations& operator=(const FileOperations&) = delete;
    virtual ~FileOperations() = default;

    /// Those of the operating system.
    static FileOperations& system();

    /// Null on failure, with errno set.
    virtual std::FILE* open_for_writing(const std::filesystem::path& path);
    /// Bytes written: fewer than `bytes` on failure.
    virtual std::size_t write(std::FILE* file, const void* data, std::size_t bytes);
    /// Flushes the stream and waits until the disk has the bytes.
    virtual bool sync(std::FILE* file);
    /// Puts `from` in the place of `to`, at once for every reader.
    virtual std::error_code rename(const std::filesystem::path& from, const std::filesystem::path& to);
    /// Waits until the disk has the folder's names. Does nothing where the system has no such thing (Windows).
    virtual void sync_folder(const std::filesystem::path& folder);
};

/// What a user can do about a write that the system refused: one sentence that fits the reason.
[[nodiscard]] std::string remedy_for(const std::error_code& error);

} // namespace espalier
