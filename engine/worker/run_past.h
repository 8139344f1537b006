// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/column_file.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace espalier {

/// The past of a run in columns: blocks from its column file, which is made or completed first if it is missing, stale
/// or damaged. Where the run's folder cannot be written, what was made is kept in memory.
class RunPast {
public:
    /// `progress` is told how much (0 to 1) of what has to be made is there. Throws Error: of code `stopped` when asked
    /// to stop, otherwise if events.jsonl cannot be read.
    RunPast(const std::filesystem::path& run, const std::function<void(double)>& progress, const std::stop_token& stop);

    /// 0 for a short run: its lines are as fast.
    [[nodiscard]] std::size_t blocks() const { return in_file_ + made_.size(); }
    /// Opening compared every block's checksum: who reads at once afterwards need not do it again.
    [[nodiscard]] std::string payload(std::size_t block,
                                      ColumnFile::Checksum checksum = ColumnFile::Checksum::compared);
    /// The events that the blocks hold end before this byte of events.jsonl.
    [[nodiscard]] std::uint64_t covered() const { return covered_; }

private:
    void check_blocks(const std::stop_token& stop);

    std::optional<ColumnFile> file_;
    std::size_t in_file_ = 0; ///< blocks of the file that are used
    std::vector<std::string> made_;
    std::uint64_t covered_ = 0;
};

} // namespace espalier
