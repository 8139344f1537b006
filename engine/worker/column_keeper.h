// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "worker/column_builder.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

inline constexpr const char* events_file = "events.jsonl";

/// A block of the column file covers so many bytes of events.jsonl, or a little more.
inline constexpr std::uint64_t column_block_bytes = std::uint64_t{4} << 20;
/// So much at the end of events.jsonl may be without columns: it is read line by line.
inline constexpr std::uint64_t most_without_columns = 2 * column_block_bytes;

/// Calls `take` with each whole line (without LF) from byte `from` of the file on, which begins a line, and the byte
/// that follows it, until the file ends or `take` returns false. Lines too long for the protocol come empty.
void for_each_line(const std::filesystem::path& file, std::uint64_t from,
                   const std::function<bool(std::string_view line, std::uint64_t end)>& take);

/// How many blocks of a run's column file, from the first on, belong to its events.jsonl as it is now. Looks at the
/// end of that range only: `ColumnFile::read` tells damage within.
[[nodiscard]] std::size_t valid_blocks(ColumnFile& file, const std::filesystem::path& run);

/// Turns lines of a run's events.jsonl into blocks.
class ColumnBlocks {
public:
    using Sink = std::function<void(std::string payload, const CoveredRange& covers)>;
    ColumnBlocks(const std::filesystem::path& run, std::uint64_t from, Sink sink);

    void add(std::string_view line, std::uint64_t end);
    void add(const Json& event, const std::vector<std::string>& lines);

private:
    void end_block_if_full();

    std::filesystem::path events_;
    Sink sink_;
    ColumnBuilder builder_;
    std::uint64_t begin_, end_; ///< of the block to come
};

/// Appends to the column file of a run that is being written, one block for each 4 MiB of events. It never throws: the
/// file can be made anew from events.jsonl at any time. If more of an old run has no columns than is read in a moment,
/// it leaves that to the first who opens the run, and does nothing.
class ColumnKeeper {
public:
    explicit ColumnKeeper(const std::filesystem::path& run);
    ColumnKeeper(const ColumnKeeper&) = delete;
    ColumnKeeper& operator=(const ColumnKeeper&) = delete;

    /// `lines` (each with LF) have been appended to events.jsonl.
    void added(const Json& event, const std::vector<std::string>& lines) noexcept;
    void stop() { blocks_.reset(); }

private:
    void append(std::string_view payload, const CoveredRange& covers);

    std::filesystem::path file_;
    bool begun_ = false;                 ///< the file is there and ends with a whole block
    std::optional<ColumnBlocks> blocks_; ///< none: stopped
};

} // namespace espalier
