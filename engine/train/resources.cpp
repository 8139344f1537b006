// SPDX-License-Identifier: Apache-2.0
#include "train/resources.h"

#include "train/layer_report.h"

#ifdef __linux__
#include <unistd.h>

#include <fstream>
#endif

namespace espalier {

std::optional<std::size_t> process_memory() {
#ifdef __linux__
    std::ifstream file("/proc/self/statm"); // pages: total, resident, ...
    std::size_t total = 0;
    std::size_t resident = 0;
    if (file >> total >> resident)
        return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
#endif
    return std::nullopt;
}

std::optional<std::size_t> machine_memory() {
#ifdef __linux__
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
#else
    return std::nullopt;
#endif
}

void ResourceReporter::count(double flops, std::int64_t images, double seconds) {
    flops_ += flops;
    images_ += images;
    seconds_ += seconds;
}

void ResourceReporter::report_if_due(std::int64_t step, const MemoryUse& memory) {
    using namespace std::chrono_literals;
    if (Clock::now() - last_ >= 1s)
        report(step, memory);
}

void ResourceReporter::report(std::int64_t step, const MemoryUse& memory) {
    Json event = make_event("resources");
    event["step"] = step;
    event["memory"] = to_json(memory);
    if (const auto process = process_memory())
        event["memory"]["process"] = *process;
    if (seconds_ > 0) {
        event["gflops"] = flops_ / seconds_ / 1e9;
        event["images_per_second"] = static_cast<double>(images_) / seconds_;
    }
    flops_ = seconds_ = 0;
    images_ = 0;
    last_ = Clock::now();
    events_.send(std::move(event));
}

} // namespace espalier
