// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/session.h"
#include "train/events.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace espalier {

/// Resident memory of this process in bytes; nothing where the system does not tell.
[[nodiscard]] std::optional<std::size_t> process_memory();
/// Physical memory of this machine in bytes; nothing where the system does not tell.
[[nodiscard]] std::optional<std::size_t> machine_memory();

/// Emits a `resources` event about once a second while training: memory, GFLOPS and images a second since the last one.
class ResourceReporter {
public:
    explicit ResourceReporter(EventSink& events) : events_(events) {}

    /// Counts work; `flops` of forward and backward.
    void count(double flops, std::int64_t images, double seconds);
    void report_if_due(std::int64_t step, const MemoryUse& memory);
    void report(std::int64_t step, const MemoryUse& memory);

private:
    using Clock = std::chrono::steady_clock;
    EventSink& events_;
    Clock::time_point last_{};
    double flops_ = 0;
    double seconds_ = 0;
    std::int64_t images_ = 0;
};

} // namespace espalier
