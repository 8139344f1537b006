// SPDX-License-Identifier: Apache-2.0
// The faults of engine/base/faults.h for programs under test.
#include "faults/injected_faults.h"

#include "base/error.h"
#include "base/faults.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

namespace espalier::faults {
namespace {

struct Fault {
    std::string kind, argument;
    std::int64_t at = 0; ///< step, number of the launch or allocation, or milliseconds; 0: always
    std::string line;
};

/// "step 12 device_error 700", "launch 40 700", "allocation 3", "refuse conv2d".
Fault parse(const std::string& line) {
    std::istringstream words(line);
    Fault fault{.line = line};
    words >> fault.kind;
    if (fault.kind == "step")
        words >> fault.at >> fault.kind >> fault.argument;
    else if (fault.kind == "allocation" || fault.kind == "launch")
        words >> fault.at >> fault.argument;
    else
        words >> fault.argument;
    if (fault.kind == "held")
        words >> fault.at;
    return fault;
}

/// The faults of the file. One that happened is taken out of it, so that the next process does not meet it again.
class Faults {
public:
    static Faults& instance() {
        static Faults faults;
        return faults;
    }

    [[nodiscard]] bool always(const char* kind, const std::string& argument) const {
        return std::ranges::any_of(
            faults_, [&](const Fault& f) { return f.kind == kind && f.at == 0 && f.argument == argument; });
    }
    std::optional<Fault> take(const char* kind, std::int64_t at) {
        const std::scoped_lock lock(mutex_);
        const auto found =
            std::ranges::find_if(faults_, [&](const Fault& f) { return f.kind == kind && f.at > 0 && f.at == at; });
        if (found == faults_.end())
            return std::nullopt;
        Fault fault = std::move(*found);
        faults_.erase(found);
        write();
        return fault;
    }
    /// From the first try on for as long as the fault says; it stays in the file.
    [[nodiscard]] bool holds(const std::string& name) {
        const std::scoped_lock lock(mutex_);
        const auto found =
            std::ranges::find_if(faults_, [&](const Fault& f) { return f.kind == "held" && f.argument == name; });
        if (found == faults_.end())
            return false;
        const auto now = std::chrono::steady_clock::now();
        const auto first = held_since_.try_emplace(name, now).first->second;
        return found->at == 0 || now - first < std::chrono::milliseconds(found->at);
    }
    std::int64_t count_allocation() { return ++allocations_; }
    std::int64_t count_launch() { return ++launches_; }

    std::optional<Fault> pending; ///< of the step in hand: strikes at its first launch

private:
    Faults() {
        if (const char* file = std::getenv(test::faults_variable))
            file_ = file;
        std::ifstream lines(file_);
        for (std::string line; std::getline(lines, line);)
            if (!line.empty())
                faults_.push_back(parse(line));
    }
    void write() const {
        const auto fresh = file_ + ".new";
        {
            std::ofstream lines(fresh);
            for (const auto& fault : faults_)
                lines << fault.line << '\n';
        }
        std::filesystem::rename(fresh, file_);
    }

    std::string file_;
    std::vector<Fault> faults_;
    std::mutex mutex_;
    std::int64_t allocations_ = 0, launches_ = 0;
    std::map<std::string, std::chrono::steady_clock::time_point> held_since_;
};

/// A kernel that traps on the GPU poisons the whole context, and the engine finds out by itself. It lives in a library
/// of its own, so that neither this program nor the engine's plug-in holds such a kernel.
void trap_on_device(const std::string& kind) {
    const auto file = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libespalier-trap.so";
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto trap = library ? reinterpret_cast<void (*)(const char*)>(dlsym(library, "espalier_trap")) : nullptr;
    if (!trap)
        throw Error("The fault 'trap' needs " + file.string() + ", which cannot be opened.");
    trap(kind.c_str());
}

} // namespace

void before_step(std::int64_t step) {
    auto& faults = Faults::instance();
    if (faults.take("kill", step))
        std::raise(SIGKILL);
    if (faults.take("hang", step))
        for (;;)
            std::this_thread::sleep_for(std::chrono::seconds(1));
    if (const auto stall = faults.take("stall", step))
        std::this_thread::sleep_for(std::chrono::milliseconds(std::stoll(stall->argument)));
    faults.pending = faults.take("device_error", step);
    if (!faults.pending)
        faults.pending = faults.take("trap", step);
}

void before_launch() {
    auto& faults = Faults::instance();
    auto fault = std::exchange(faults.pending, std::nullopt);
    if (auto other = faults.take("launch", faults.count_launch()))
        fault = std::move(other);
    if (!fault)
        return;
    if (fault->kind == "trap")
        return trap_on_device(fault->argument);
    throw DeviceError("The GPU failed: an injected fault (CUDA error " + fault->argument + ").");
}

void before_allocation(std::size_t bytes) {
    auto& faults = Faults::instance();
    if (faults.take("allocation", faults.count_allocation()))
        throw OutOfMemory("There is no memory left for " + std::to_string(bytes) + " bytes: an injected fault.");
}

bool refuses(const std::string& kind) { return Faults::instance().always("refuse", kind); }

bool spoils(const std::string& kind) { return Faults::instance().always("spoil", kind); }

bool denies_rename(const std::string& name) { return Faults::instance().holds(name); }

std::optional<float> loss_scale_at(std::int64_t step) {
    const auto fault = Faults::instance().take("overflow", step);
    return fault ? std::optional(std::stof(fault->argument)) : std::nullopt;
}

} // namespace espalier::faults
