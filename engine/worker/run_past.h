// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "io/column_file.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// A block of a column file is not what was written. The file can be made anew.
class DamagedColumns : public Error {
public:
    DamagedColumns();
};

/// The past of a run in columns: blocks from its column file, which is made or completed first if it is missing, stale
/// or damaged. Where the run's folder cannot be written, what was made is kept in memory.
class RunPast {
public:
    /// When the blocks of the file are compared with their checksums. At once: what is damaged is made anew. As they
    /// are read: damage is an error then, and who wants little of a long file reads no more than that.
    enum class Comparing { at_once, as_read };

    /// `progress` is told how much (0 to 1) of what has to be made is there. Throws Error: of code `stopped` when asked
    /// to stop, otherwise if events.jsonl cannot be read.
    RunPast(const std::filesystem::path& run, const std::function<void(double)>& progress, const std::stop_token& stop,
            Comparing comparing = Comparing::at_once);

    /// 0 for a short run: its lines are as fast.
    [[nodiscard]] std::size_t blocks() const { return in_file_ + made_.size(); }
    /// Opening may have compared every block's checksum: who reads at once afterwards need not do it again. Throws
    /// DamagedColumns, as outline() does.
    [[nodiscard]] std::string payload(std::size_t block,
                                      ColumnFile::Checksum checksum = ColumnFile::Checksum::compared);
    /// As ColumnFile::outline.
    void outline(std::size_t block, const OutlineHandlers& handlers);
    /// What follows the blocks in events.jsonl, as the payload of one more.
    [[nodiscard]] std::string tail(const std::stop_token& stop) const;
    /// The events that the blocks hold end before this byte of events.jsonl.
    [[nodiscard]] std::uint64_t covered() const { return covered_; }

private:
    void check_blocks(const std::stop_token& stop);

    std::filesystem::path run_;
    std::optional<ColumnFile> file_;
    std::size_t in_file_ = 0; ///< blocks of the file that are used
    std::vector<std::string> made_;
    std::uint64_t covered_ = 0;
};

/// The entries of a payload in memory, as ColumnFile::outline gives those of a block.
void outline_of(std::string_view payload, const OutlineHandlers& handlers);

} // namespace espalier
