// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/appended_file.h"
#include "base/json.h"
#include "worker/column_keeper.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// The two files of a run that hold its events: per-layer samples in layers.jsonl, all others in events.jsonl
/// (`events_file`, with a sidecar of columns).
inline constexpr const char* layers_file = "layers.jsonl";

/// Appends events to a run's files. One writer a run: the supervisor, which holds the run's lock.
class EventLog {
public:
    /// Throws Error if a file cannot be opened.
    explicit EventLog(const std::filesystem::path& run);
    /// Whole, or not at all: then throws Error. What the disk refuses waits, up to `most_waiting` bytes of the newest,
    /// and is written before the first event for which there is room again: no event stands before an older one.
    void append(const Json& event);

    static constexpr std::size_t most_waiting = std::size_t{64} << 20;

private:
    struct Waiting {
        Json event;
        std::vector<std::string> lines;
        std::size_t bytes = 0; ///< of the lines
    };
    void write(const Waiting& one);

    AppendedFile events_;
    AppendedFile layers_;
    ColumnKeeper columns_; ///< after the files: it reads what they hold
    std::deque<Waiting> waiting_;
    std::size_t waiting_bytes_ = 0;
};

/// Calls `visit` with each event, the last one first, until it returns false or the file ends. Lines that are no events
/// are skipped. A missing file has no events.
void visit_backwards(const std::filesystem::path& file, const std::function<bool(const Json& event)>& visit);

/// Number of the last step in force in an events.jsonl; 0 if there is none.
[[nodiscard]] std::int64_t last_step_of(const std::filesystem::path& run);

/// Reads a growing file line by line; gives whole lines only.
class LineCursor {
public:
    /// Begins at a byte of the file where a line begins.
    explicit LineCursor(std::filesystem::path file, std::uint64_t offset = 0)
        : file_(std::move(file)), offset_(offset) {}
    /// Calls `take` with each line (without LF) that has been added, until about `budget` bytes were given.
    /// Returns true if the end was reached. Lines that are no JSON objects are left out.
    bool read(std::size_t budget, const std::function<void(std::string_view line)>& take);

private:
    std::filesystem::path file_;
    std::ifstream stream_;
    std::string rest_;
    std::uint64_t offset_;
};

/// All events of a run, past and to come, from both files: the same for a run that lives and for an old one.
class EventCursor {
public:
    /// Leaves out what stands before byte `from` of events.jsonl.
    explicit EventCursor(const std::filesystem::path& run, std::uint64_t from = 0)
        : events_(run / events_file, from), layers_(run / layers_file) {}
    /// As LineCursor::read. Per-layer samples follow when there is no other event to read.
    bool read(std::size_t budget, const std::function<void(std::string_view line)>& take);

private:
    LineCursor events_;
    LineCursor layers_;
};

} // namespace espalier
