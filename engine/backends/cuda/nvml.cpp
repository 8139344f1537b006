// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/nvml.h"

#include "base/error.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#include <unistd.h>
#endif

namespace espalier::nvml {
namespace {

#ifdef _WIN32
void* open_library(const std::string& name) { return LoadLibraryA(name.c_str()); }
void* find_function(void* library, const char* name) {
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}
void close_library(void* library) { FreeLibrary(static_cast<HMODULE>(library)); }
unsigned this_process() { return GetCurrentProcessId(); }
#else
void* open_library(const std::string& name) { return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); }
void* find_function(void* library, const char* name) { return dlsym(library, name); }
void close_library(void* library) { dlclose(library); }
unsigned this_process() { return static_cast<unsigned>(getpid()); }
#endif

// What of NVML's interface is used here, by its documentation (NVML API Reference Guide).
using Handle = void*;
using Result = int;
constexpr Result success = 0;
constexpr unsigned core_temperature = 0;
constexpr unsigned core_clock = 1, memory_clock = 2;
constexpr unsigned long long no_value = ~0ULL;

struct Utilization {
    unsigned gpu, memory; ///< per cent
};
struct MemoryInfo {
    unsigned long long total, free, used; ///< bytes
};
struct ProcessInfo { // versions 2 and 3 of the function
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

/// nvmlClocksEventReasons; reasons that are none (idle) are left out.
constexpr std::pair<unsigned long long, unsigned> reasons[] = {
    {0x002, throttle::set_clocks},   // application clocks
    {0x100, throttle::set_clocks},   // display clocks
    {0x004, throttle::power_limit},  // software power cap
    {0x008, throttle::hardware},     // hardware slow-down
    {0x080, throttle::hardware},     // power brake
    {0x010, throttle::synchronized}, // sync boost
    {0x020, throttle::temperature},  // software thermal slow-down
    {0x040, throttle::temperature},  // hardware thermal slow-down
};

} // namespace

struct Device::Functions {
    explicit Functions(const std::string& name) : library(open_library(name)) {
        if (!library)
            throw DeviceError("NVML (" + name + ") cannot be opened, so nothing of the GPU's load, temperature and " +
                              "power is shown. It comes with the NVIDIA driver.");
        find(init, {"nvmlInit_v2", "nvmlInit"});
        find(shutdown, {"nvmlShutdown"});
        find(by_uuid, {"nvmlDeviceGetHandleByUUID"});
        find(utilization, {"nvmlDeviceGetUtilizationRates"});
        find(temperature, {"nvmlDeviceGetTemperature"});
        find(power, {"nvmlDeviceGetPowerUsage"});
        find(power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
        find(clock, {"nvmlDeviceGetClockInfo"});
        find(throttle_reasons, {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
        find(memory, {"nvmlDeviceGetMemoryInfo"});
        find(processes, {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
    }
    ~Functions() {
        if (running && shutdown)
            shutdown();
        close_library(library);
    }
    Functions(const Functions&) = delete;
    Functions& operator=(const Functions&) = delete;

    template <typename Function>
    void find(Function*& function, std::initializer_list<const char*> names) const {
        for (const char* name : names)
            if (!function)
                function = reinterpret_cast<Function*>(find_function(library, name));
    }

    void* library;
    bool running = false;
    Result (*init)() = nullptr;
    Result (*shutdown)() = nullptr;
    Result (*by_uuid)(const char*, Handle*) = nullptr;
    Result (*utilization)(Handle, Utilization*) = nullptr;
    Result (*temperature)(Handle, unsigned sensor, unsigned* celsius) = nullptr;
    Result (*power)(Handle, unsigned* milliwatts) = nullptr;
    Result (*power_limit)(Handle, unsigned* milliwatts) = nullptr;
    Result (*clock)(Handle, unsigned kind, unsigned* megahertz) = nullptr;
    Result (*throttle_reasons)(Handle, unsigned long long* bits) = nullptr;
    Result (*memory)(Handle, MemoryInfo*) = nullptr;
    Result (*processes)(Handle, unsigned* count, ProcessInfo*) = nullptr;
};

Device::Device(const std::string& uuid, const std::string& library) : functions_(std::make_unique<Functions>(library)) {
    const auto& nvml = *functions_;
    if (!nvml.init || !nvml.by_uuid)
        throw DeviceError(library + " lacks the functions of NVML that are needed. Install the NVIDIA driver again.");
    if (const auto result = nvml.init(); result != success)
        throw DeviceError("NVML does not start (error " + std::to_string(result) + ").");
    functions_->running = true;
    if (const auto result = nvml.by_uuid(uuid.c_str(), &handle_); result != success)
        throw DeviceError("NVML knows no GPU " + uuid + " (error " + std::to_string(result) + ").");
}

Device::~Device() = default;

DeviceState Device::sample() const {
    const auto& nvml = *functions_;
    DeviceState state;
    const auto whole = [](auto function, auto... arguments) -> std::optional<double> {
        unsigned value = 0;
        if (!function || function(arguments..., &value) != success)
            return std::nullopt;
        return value;
    };
    const auto thousandths = [&](auto function, Handle handle) -> std::optional<double> {
        const auto value = whole(function, handle);
        return value ? std::optional(*value / 1000) : std::nullopt;
    };
    state.temperature = whole(nvml.temperature, handle_, core_temperature);
    state.power = thousandths(nvml.power, handle_);
    state.power_limit = thousandths(nvml.power_limit, handle_);
    state.core_clock = whole(nvml.clock, handle_, core_clock);
    state.memory_clock = whole(nvml.clock, handle_, memory_clock);
    if (Utilization rates{}; nvml.utilization && nvml.utilization(handle_, &rates) == success)
        state.utilisation = rates.gpu / 100.0;
    if (unsigned long long bits = 0; nvml.throttle_reasons && nvml.throttle_reasons(handle_, &bits) == success) {
        state.throttle = 0;
        for (const auto& [bit, reason] : reasons)
            if (bits & bit)
                *state.throttle |= reason;
    }
    if (MemoryInfo info{}; nvml.memory && nvml.memory(handle_, &info) == success) {
        state.memory_total = info.total;
        state.memory_used = info.used;
    }
    std::vector<ProcessInfo> processes(64);
    auto count = static_cast<unsigned>(processes.size());
    if (nvml.processes && nvml.processes(handle_, &count, processes.data()) == success) {
        processes.resize(std::min<std::size_t>(count, processes.size()));
        for (const auto& process : processes) // in a container the numbers may be those of the machine outside
            if (process.pid == this_process() && process.used != no_value)
                state.process_memory = process.used;
    }
    return state;
}

} // namespace espalier::nvml
