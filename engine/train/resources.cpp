// SPDX-License-Identifier: Apache-2.0
#include "train/resources.h"

#include "train/layer_report.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#ifdef __linux__
#include <unistd.h>
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

namespace {

namespace fs = std::filesystem;

/// The first number of a file; nothing if there is none ("max").
std::optional<std::size_t> number_in(const fs::path& file) {
    std::ifstream stream(file);
    std::size_t number = 0;
    return stream >> number ? std::optional(number) : std::nullopt;
}

/// The number behind `key` in a file of lines "key number".
std::optional<std::size_t> number_behind(const fs::path& file, const std::string& key) {
    std::ifstream stream(file);
    std::string word;
    for (std::string line; std::getline(stream, line);) {
        std::istringstream fields(line);
        std::size_t number = 0;
        if (fields >> word >> number && word == key)
            return number;
    }
    return std::nullopt;
}

/// What one control group leaves; the cache of files in it can be given up.
std::optional<std::size_t> left_in_group(const fs::path& group, const char* limit, const char* usage,
                                         const char* cache) {
    const auto most = number_in(group / limit);
    const auto used = number_in(group / usage);
    if (!most || !used)
        return std::nullopt;
    const auto given_up = std::min(*used, number_behind(group / "memory.stat", cache).value_or(0));
    return *most - std::min(*most, *used - given_up);
}

} // namespace

std::optional<std::size_t> available_memory(const fs::path& root) {
    const auto kibibytes = number_behind(root / "proc/meminfo", "MemAvailable:");
    if (!kibibytes)
        return std::nullopt;
    std::size_t available = *kibibytes * 1024;
    // Version 2 has a line "0::/path", version 1 one "n:memory:/path"; in a container the path may not be visible.
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const auto path = line.substr(line.rfind(':') + 1);
        const bool second = line.starts_with("0::");
        if (!second && line.find(":memory:") == std::string::npos)
            continue;
        const auto top = root / (second ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
        for (auto group = fs::path(path).relative_path();; group = group.parent_path()) {
            const auto left = second ? left_in_group(top / group, "memory.max", "memory.current", "inactive_file")
                                     : left_in_group(top / group, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                                     "total_inactive_file");
            available = std::min(available, left.value_or(available));
            if (group.empty())
                break;
        }
    }
    return available;
}

std::size_t memory_for_a_run(std::size_t available) {
    const auto margin = std::max(available / 10, 256 * mib);
    return std::max(available - std::min(available, margin), 64 * mib);
}

void put_device_state(Json& event, const DeviceState& state) {
    const auto put = [](Json& into, const char* key, const auto& value) {
        if (value)
            into[key] = *value;
    };
    put(event, "utilisation", state.utilisation);
    put(event, "temperature", state.temperature);
    put(event, "power", state.power);
    put(event, "power_limit", state.power_limit);
    put(event, "core_clock", state.core_clock);
    put(event, "memory_clock", state.memory_clock);
    put(event, "throttle", state.throttle);
    put(event["memory"], "process", state.process_memory);
    put(event["memory"], "device", state.memory_used);
    put(event["memory"], "device_total", state.memory_total);
}

void ResourceReporter::count(double flops, std::int64_t images, double seconds) {
    flops_ += flops;
    images_ += images;
    seconds_ += seconds;
}

void ResourceReporter::report_if_due(std::int64_t step, const std::function<MemoryUse()>& memory) {
    using namespace std::chrono_literals;
    if (Clock::now() - last_ >= 1s)
        report(step, memory());
}

void ResourceReporter::report(std::int64_t step, const MemoryUse& memory) {
    Json event = make_event("resources");
    event["step"] = step;
    event["memory"] = to_json(memory);
    if (const auto process = process_memory())
        event["memory"][monitor_ ? "host" : "process"] = *process;
    if (monitor_)
        put_device_state(event, monitor_->latest());
    if (seconds_ > 0) {
        event["gflops"] = flops_ / seconds_ / 1e9;
        if (peak_flops_ > 0)
            event["mfu"] = flops_ / seconds_ / peak_flops_;
        event["images_per_second"] = static_cast<double>(images_) / seconds_;
    }
    flops_ = seconds_ = 0;
    images_ = 0;
    last_ = Clock::now();
    events_.send(std::move(event));
}

} // namespace espalier
