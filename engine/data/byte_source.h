// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace espalier {

/// Bytes that are read once, from front to back.
class ByteSource {
public:
    virtual ~ByteSource() = default;
    /// Fills `out`; returns fewer bytes than asked for only where the source ends or is damaged.
    virtual std::size_t read(std::span<std::uint8_t> out) = 0;
    /// Why the bytes ended before they should have, as half a sentence; empty if the end is a good one.
    [[nodiscard]] virtual std::string fault() const { return {}; }
};

/// Throws DataError if the path is a folder, a pipe or a device: opening one could wait for ever.
void check_regular_file(const std::filesystem::path& path);
/// Throws DataError if there is no folder of that name, or it cannot be read.
void check_folder(const std::filesystem::path& path);

/// Throws DataError if the file cannot be opened, and as check_regular_file.
[[nodiscard]] std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path);
/// The bytes must outlive the source.
[[nodiscard]] std::unique_ptr<ByteSource> bytes_of(std::span<const std::uint8_t> bytes);
/// A whole file's bytes. Throws as open_file, and if there are more than `most`.
[[nodiscard]] std::vector<std::uint8_t> file_bytes(const std::filesystem::path& path, std::size_t most);
/// Looks at the first bytes and not at a name: gzip is unpacked on the way, everything else passes as it is.
[[nodiscard]] std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed);

} // namespace espalier
