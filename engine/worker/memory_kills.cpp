// SPDX-License-Identifier: Apache-2.0
#include "worker/memory_kills.h"

#include <fstream>
#include <string>
#include <utility>

namespace espalier {

MemoryKills::MemoryKills(std::filesystem::path counters) : counters_(std::move(counters)), seen_(count()) {}

void MemoryKills::look(Clock::time_point now) {
    if (const auto kills = count(); std::exchange(seen_, kills) < kills)
        last_ = now;
}

bool MemoryKills::recent(Clock::time_point now) const { return last_ && now - *last_ <= std::chrono::seconds(10); }

std::int64_t MemoryKills::count() const {
    std::ifstream stream(counters_);
    std::string name;
    for (std::int64_t value = 0; stream >> name >> value;)
        if (name == "oom_kill")
            return value;
    return 0;
}

} // namespace espalier
