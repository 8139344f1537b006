// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>

namespace espalier::test {

/// Scans of very many files, each until it is cancelled. Lives as long as the process: its threads do.
class SlowScans {
public:
    void begin(std::int64_t id);
    void cancel(std::int64_t id);
    [[nodiscard]] std::size_t count();

private:
    bool goes(std::int64_t id);

    std::mutex mutex_;
    std::set<std::int64_t> going_;
};

} // namespace espalier::test
