// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace espalier {

/// Whether the system has lately ended a process for want of memory. It counts them for the whole machine, so only a
/// recent one may be blamed for a death. Where it does not tell (no Linux), there is none.
class MemoryKills {
public:
    using Clock = std::chrono::steady_clock;

    explicit MemoryKills(std::filesystem::path counters = "/proc/vmstat");

    /// To be called every second or so.
    void look(Clock::time_point now);
    /// Within the last 10 s before `now`, as far as was looked: a large process takes seconds to be gone.
    [[nodiscard]] bool recent(Clock::time_point now) const;

private:
    [[nodiscard]] std::int64_t count() const;

    std::filesystem::path counters_;
    std::int64_t seen_ = 0;
    std::optional<Clock::time_point> last_;
};

} // namespace espalier
