// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_operations.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace espalier {

/// The safetensors format (https://github.com/huggingface/safetensors): 8 bytes with the header's length (little
/// endian), a JSON header {"__metadata__": {...}, name: {"dtype", "shape", "data_offsets": [begin, end]}}, then the
/// data, row-major.
namespace safetensors {

enum class Type { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

[[nodiscard]] std::size_t size_of(Type type);
[[nodiscard]] std::string name_of(Type type); ///< as in the file: "F32", "BF16", "BOOL"

using Metadata = std::map<std::string, std::string>;

struct Entry {
    std::string name;
    Type type = Type::f32;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0; ///< of its bytes, counted from the end of the header
    std::uint64_t end = 0;
    [[nodiscard]] std::uint64_t count() const { return (end - begin) / safetensors::size_of(type); }
};

struct Header {
    Metadata metadata;
    std::vector<Entry> entries; ///< in the order of their bytes
};

/// Longest header that is read: some 100,000 tensors.
inline constexpr std::uint64_t largest_header = 16u << 20;

/// Parses a header whose file has `data_bytes` after it. Trusts nothing: throws CheckpointError (text begins with
/// `source`) for JSON that is not a header, a name that comes twice, an unknown dtype, a shape whose size overflows or
/// differs from its bytes, and for data that overlaps, leaves a hole, or does not end where the file ends.
[[nodiscard]] Header parse_header(std::string_view json, std::uint64_t data_bytes, const std::string& source);

/// A file opened for reading. Only the header is in memory; tensors are read when asked for.
class Reader {
public:
    /// Throws CheckpointError if the file is not there or is not sound.
    explicit Reader(const std::filesystem::path& path);

    [[nodiscard]] const Metadata& metadata() const { return header_.metadata; }
    [[nodiscard]] const std::vector<Entry>& entries() const { return header_.entries; }
    [[nodiscard]] bool has(const std::string& name) const { return index_.contains(name); }
    /// Throws CheckpointError if it is not there.
    [[nodiscard]] const Entry& at(const std::string& name) const;

    [[nodiscard]] std::vector<std::byte> bytes(const std::string& name) const;
    /// Any type, as float.
    [[nodiscard]] std::vector<float> floats(const std::string& name) const;
    /// Integer types; throws CheckpointError for a floating type or a value that an int32 does not hold.
    [[nodiscard]] std::vector<std::int32_t> integers(const std::string& name) const;

private:
    std::string source_;
    mutable std::ifstream file_;
    Header header_;
    std::uint64_t data_begin_ = 0;
    std::map<std::string, std::size_t> index_;
};

/// A tensor to be written; the bytes stay the caller's.
struct Item {
    std::string name;
    Type type = Type::f32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> data;

    static Item of(std::string name, std::vector<std::int64_t> shape, std::span<const float> values) {
        return {std::move(name), Type::f32, std::move(shape), std::as_bytes(values)};
    }
    static Item of(std::string name, std::vector<std::int64_t> shape, std::span<const std::int32_t> values) {
        return {std::move(name), Type::i32, std::move(shape), std::as_bytes(values)};
    }
};

/// Writes a file whole or not at all (io/atomic_file.h), wide types first so that every tensor is aligned. Returns the
/// name in force: another one than `path` where the system would not let the old file be replaced. Throws Error if the
/// disk refuses, ConfigError if a name comes twice or a shape differs from its bytes.
std::filesystem::path write(const std::filesystem::path& path, std::vector<Item> items, const Metadata& metadata,
                            FileOperations& operations = FileOperations::system());

} // namespace safetensors
} // namespace espalier
