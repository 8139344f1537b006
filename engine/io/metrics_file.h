// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/appended_file.h"
#include "base/json.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace espalier {

/// metrics.csv of a run, made from its events: a row for each step (set "training") and each evaluation ("validation",
/// "test"), with step, epoch, set, loss, accuracy, learning_rate, seconds. After a resume from a checkpoint the rows of
/// steps that were taken back are gone, so that a series never goes back in time.
class MetricsFile {
public:
    static constexpr const char* name = "metrics.csv";

    /// Opens the file of a run, or makes it with its heading. Throws Error if it cannot be written.
    explicit MetricsFile(const std::filesystem::path& run);
    /// Takes `plan`, `steps`, `evaluation` and `superseded` events; leaves others alone. Throws Error if the disk
    /// refuses: the rows then wait, up to `most_waiting` bytes of the newest, and are written before the next ones.
    void take(const Json& event);

    static constexpr std::size_t most_waiting = std::size_t{16} << 20;

private:
    void open();
    void append(const std::string& rows);
    void drop_after(std::int64_t step);

    std::filesystem::path path_;
    std::optional<AppendedFile> file_;
    std::string waiting_;              ///< rows that the disk has refused
    std::int64_t steps_per_epoch_ = 0; ///< of the last `plan` event
};

} // namespace espalier
