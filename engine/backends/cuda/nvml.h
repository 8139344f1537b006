// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/device_state.h"

#include <memory>
#include <string>

namespace espalier::nvml {

/// Where the driver has put NVML.
#ifdef _WIN32
inline constexpr const char* library_name = "nvml.dll";
#else
inline constexpr const char* library_name = "libnvidia-ml.so.1";
#endif

/// One GPU as NVML, the driver's library for watching GPUs, tells of it. The library is opened at run time; a function
/// or a value that it lacks is an absent value.
class Device {
public:
    /// `uuid` as nvidia-smi prints it: "GPU-1b2c...". Throws DeviceError if the library or the GPU is not there.
    explicit Device(const std::string& uuid, const std::string& library = library_name);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    /// Asks the driver, which may take some milliseconds. Never throws.
    [[nodiscard]] DeviceState sample() const;

private:
    struct Functions;
    std::unique_ptr<Functions> functions_;
    void* handle_ = nullptr;
};

} // namespace espalier::nvml
