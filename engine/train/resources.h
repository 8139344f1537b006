// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/device_state.h"
#include "plan/session.h"
#include "train/events.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace espalier {

inline constexpr std::size_t mib = std::size_t{1} << 20; ///< bytes

/// Resident memory of this process in bytes; nothing where the system does not tell.
[[nodiscard]] std::optional<std::size_t> process_memory();
/// Physical memory of this machine in bytes; nothing where the system does not tell.
[[nodiscard]] std::optional<std::size_t> machine_memory();

/// Memory that a new process may take, in bytes: what the system says is available beside all that runs, and no more
/// than the control groups above this process leave of their limits. Nothing where the system does not tell. `root` is
/// where /proc and /sys are.
[[nodiscard]] std::optional<std::size_t> available_memory(const std::filesystem::path& root = "/");
/// What a run may plan with of `available` bytes: a tenth, and at least 256 MiB, is left for everything that no plan
/// knows (the data set, libraries, other programs). At least 64 MiB.
[[nodiscard]] std::size_t memory_for_a_run(std::size_t available);

/// What a device says of itself, as the fields of a `resources` event; what it does not tell is absent. `memory` gets
/// those of the device's memory.
void put_device_state(Json& event, const DeviceState& state);

/// Emits a `resources` event about once a second while training: memory, GFLOPS and images a second since the last one,
/// and what the device says of itself.
class ResourceReporter {
public:
    /// `peak_flops` of the precision in force, 0: not known, and no share of it is told. `monitor` may be null.
    explicit ResourceReporter(EventSink& events, double peak_flops = 0, std::unique_ptr<DeviceMonitor> monitor = {})
        : events_(events), peak_flops_(peak_flops), monitor_(std::move(monitor)) {}

    /// Counts work; `flops` of forward and backward, `seconds` until the device was done with it.
    void count(double flops, std::int64_t images, double seconds);
    /// Asks for `memory` only if a report is due.
    void report_if_due(std::int64_t step, const std::function<MemoryUse()>& memory);
    void report(std::int64_t step, const MemoryUse& memory);

private:
    using Clock = std::chrono::steady_clock;
    EventSink& events_;
    double peak_flops_;
    std::unique_ptr<DeviceMonitor> monitor_;
    Clock::time_point last_{};
    double flops_ = 0;
    double seconds_ = 0;
    std::int64_t images_ = 0;
};

} // namespace espalier
