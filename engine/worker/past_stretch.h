// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/run_past.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace espalier {

/// Steps from the first to the last, both among them.
struct StepRange {
    std::int64_t first = 1, last = 1;
};

/// The past of a run from its end: the lines that have no columns yet, then block by block. Each comes whole, or as the
/// lines that say what became of its steps.
class PastFromEnd {
public:
    /// All of it.
    PastFromEnd(RunPast& past, const std::stop_token& stop);
    /// Whole are only parts that have to do with these steps, and what lies before them is left out: found by the
    /// outlines of the blocks, without reading their columns.
    PastFromEnd(RunPast& past, const StepRange& range, const std::stop_token& stop);

    /// The newest step in force; 0: there is none.
    [[nodiscard]] std::int64_t newest() const { return newest_; }

    /// Calls `take` with each entry, the last one first. Throws Error of code `stopped` when asked to stop, or if the
    /// past is damaged.
    template <class Take>
    void visit(Take&& take) {
        for (const auto& part : parts_) {
            check();
            for (auto line = part.lines.rbegin(); line != part.lines.rend(); ++line)
                take(ColumnEntry(std::string_view(*line)));
            if (!part.whole)
                continue;
            const auto payload = payload_of(part.block);
            const auto entries = entries_of(payload).value_or(std::vector<ColumnEntry>());
            for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
                take(*entry);
        }
    }

private:
    struct Part {
        std::size_t block = 0; ///< one more than there are: the tail
        bool whole = true;
        std::vector<std::string> lines; ///< of a part that is not whole
    };
    struct Outline;
    void check() const;
    [[nodiscard]] std::string payload_of(std::size_t block);
    [[nodiscard]] bool look_at(const Outline& outline, std::int64_t& in_force, const StepRange& range);
    [[nodiscard]] Outline outline_part(std::size_t block, const StepRange& range);

    RunPast& past_;
    std::stop_token stop_;
    ColumnFile::Checksum checksum_;
    std::string tail_;
    std::int64_t newest_ = 0;
    std::vector<Part> parts_; ///< the last one first
};

/// Whether a line may say what became of steps, or what they amounted to: the others need not be parsed.
[[nodiscard]] bool tells_of_steps(std::string_view line);

} // namespace espalier
