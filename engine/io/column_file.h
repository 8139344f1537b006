// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace espalier {

/// The sidecar of a run's events.jsonl: the same events in the same order, with the numbers of steps and resources in
/// columns. Written from events.jsonl alone, so that it may be missing, cut off or deleted at any time. Little endian:
///
///     "ESPCOLMN", u32 version, u32 0                                       16 bytes
///     then blocks: u32 0x424c4345, u32 CRC-32 of all of the block that follows it, u64 bytes of the payload,
///     u64 begin and u64 end of what it covers of events.jsonl, u32 fingerprint of events.jsonl before `end`, u32 0,
///     and the payload: entries, each u32 kind, u32 bytes, and a body that is filled up to a multiple of 8.
///
/// A line (kind 1) is its text. A table (kind 2: steps, 3: resources) is f64 time, i64 step, f64 epoch, u32 rows, u16
/// columns, u16 bytes of a number (4 or 8, floating point), for each column u16 length and its name, zeros up to a
/// multiple of 8, and the columns, each filled up to a multiple of 8.
inline constexpr const char* column_file_name = "events.columns";
inline constexpr std::uint32_t column_file_version = 1;

/// Numbers that stand together. Of steps: `rows` consecutive ones (float), `step` and `epoch` of the first, `time` of
/// the last line that brought them. Of resources: samples (double), each with its own step and time as columns.
struct ColumnTable {
    enum class Kind : std::uint32_t { steps = 2, resources = 3 };
    struct Column {
        std::string_view name;
        std::string_view bytes; ///< `rows` numbers
    };

    Kind kind = Kind::steps;
    double time = 0; ///< seconds since 1970
    std::int64_t step = 0;
    double epoch = 0;
    std::size_t rows = 0;
    std::vector<Column> columns;

    [[nodiscard]] const Column* find(std::string_view name) const;
    /// Number `row` of a column; Number is float for steps and double for resources.
    template <typename Number>
    [[nodiscard]] static Number at(const Column& column, std::size_t row) {
        Number number;
        std::memcpy(&number, column.bytes.data() + row * sizeof(Number), sizeof(Number));
        return number;
    }
};

/// A line of events.jsonl as it stands there (without LF), or a table. A view into the block's payload.
using ColumnEntry = std::variant<std::string_view, ColumnTable>;

void append_entry(std::string& payload, std::string_view line);
void append_entry(std::string& payload, const ColumnTable& table);
/// Nothing if the payload is damaged.
[[nodiscard]] std::optional<std::vector<ColumnEntry>> entries_of(std::string_view payload);

struct OutlineHandlers {
    std::function<void(std::string_view line)> line;
    std::function<void(const ColumnTable& table)> table; ///< without its columns
};

/// The range of events.jsonl that a block covers, [begin, end): whole lines.
struct CoveredRange {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t fingerprint = 0;
};
/// CRC-32 of the last 4 KiB (or all) of the file before `end`; nothing if the file is shorter.
[[nodiscard]] std::optional<std::uint32_t> fingerprint_of(const std::filesystem::path& file, std::uint64_t end);

[[nodiscard]] std::string column_file_header();
[[nodiscard]] std::string column_block(std::string_view payload, const CoveredRange& covers);

/// Reads a sidecar block by block. A file that is missing, of another version or of another format has no blocks; what
/// follows the last whole block is left out.
class ColumnFile {
public:
    explicit ColumnFile(const std::filesystem::path& file);

    [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
    [[nodiscard]] const CoveredRange& range(std::size_t block) const { return blocks_[block].covers; }
    /// Bytes of the file up to the end of the last whole block; 0: nothing of it is of use.
    [[nodiscard]] std::uint64_t end_of(std::size_t count) const;
    enum class Checksum { compared, known }; ///< known: the block was read and compared before
    /// The payload of a block, or nothing if it is damaged.
    [[nodiscard]] std::optional<std::string> read(std::size_t block, Checksum checksum = Checksum::compared);
    /// The entries of a block in their order, all columns passed over: of a block of long tables little is read. The
    /// checksum is not compared. False if the block is damaged so that its entries cannot be told apart.
    [[nodiscard]] bool outline(std::size_t block, const OutlineHandlers& handlers);

private:
    struct Block {
        std::uint64_t payload = 0, bytes = 0; ///< where it stands in the file
        std::uint32_t crc = 0;
        CoveredRange covers;
    };

    std::ifstream stream_;
    std::vector<Block> blocks_;
};

} // namespace espalier
