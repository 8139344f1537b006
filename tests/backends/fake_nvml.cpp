// SPDX-License-Identifier: Apache-2.0
// A library with the functions of NVML that the monitor uses, for machines without a GPU. The environment variable
// FAKE_NVML says what it does: "values" (the default), "not_supported" (WSL 2: every value is N/A), "lost" (the GPU is
// gone from the bus), "no_init" (the driver is not loaded). It counts how often it was started and shut down.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int success = 0, not_supported = 3, not_found = 6, driver_not_loaded = 9, gpu_is_lost = 15;
int gpu = 0;     // what the handle points to
int started = 0; // as nvmlInit counts

std::string mode() {
    const char* value = std::getenv("FAKE_NVML");
    return value ? value : "values";
}

template <typename Set>
int answer(void* device, Set&& set) {
    if (device != &gpu)
        return 2; // invalid argument
    if (mode() == "not_supported")
        return not_supported;
    if (mode() == "lost")
        return gpu_is_lost;
    set();
    return success;
}

} // namespace

extern "C" {

struct Utilization {
    unsigned gpu, memory;
};
struct Memory {
    unsigned long long total, free, used;
};
struct Process {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

int fake_nvml_started() { return started; }

int nvmlInit_v2() {
    if (mode() == "no_init")
        return driver_not_loaded;
    ++started;
    return success;
}
int nvmlShutdown() {
    --started;
    return success;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
    *device = &gpu;
    return std::strcmp(uuid, "GPU-fake") == 0 ? success : not_found;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* rates) {
    return answer(device, [&] { *rates = {97, 41}; });
}
int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* celsius) {
    return answer(device, [&] { *celsius = sensor == 0 ? 64 : 0; });
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
    return answer(device, [&] { *milliwatts = 312'400; });
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts) {
    return answer(device, [&] { *milliwatts = 350'000; });
}
int nvmlDeviceGetClockInfo(void* device, unsigned kind, unsigned* megahertz) {
    return answer(device, [&] { *megahertz = kind == 1 ? 1'755 : kind == 2 ? 2'619 : 0; });
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* bits) {
    return answer(device, [&] { *bits = 0x1 | 0x4 | 0x40; }); // idle, power cap, too hot
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
    // Under WSL 2 the memory is known although nothing else is.
    if (device == &gpu && mode() == "not_supported") {
        *memory = {8ULL << 30, 7ULL << 30, 1ULL << 30};
        return success;
    }
    return answer(device, [&] { *memory = {80ULL << 30, 68ULL << 30, 12ULL << 30}; });
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* processes) {
    if (device == &gpu && mode() == "not_supported") {
        *count = 1;
        processes[0] = {static_cast<unsigned>(getpid()), ~0ULL, 0, 0}; // not available
        return success;
    }
    return answer(device, [&] {
        *count = 2;
        processes[0] = {1, 9ULL << 30, 0, 0};
        processes[1] = {static_cast<unsigned>(getpid()), 3ULL << 30, 0, 0};
    });
}
}
