// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

#include <cstddef>
#include <string>
#include <vector>

namespace espalier::cuda {

/// One GPU as this process sees it.
struct DeviceInfo {
    int index = 0;    ///< as CUDA counts them
    std::string uuid; ///< "GPU-1b2c...", as nvidia-smi prints it
    std::string name;
    int major = 0, minor = 0; ///< compute capability
    int architecture = 0;     ///< whose code of our kernels it runs; see code_architecture()
    int multiprocessors = 0;
    std::size_t memory = 0; ///< bytes in all
    std::size_t free = 0;   ///< bytes when it was asked
    Support usable;         ///< whether a kernel ran there and gave the right numbers, and why not
    std::string bus;        ///< place on the PCI bus, "00000000:17:00.0"
};

/// Version numbers as people read them: "13.0", "9.19.0"; empty where there is none.
struct Versions {
    std::string driver; ///< of the driver itself: "580.95.05"; empty where the system does not tell it
    std::string served; ///< the newest CUDA that the driver serves
    std::string runtime;
    std::string cudnn;
};

[[nodiscard]] Versions versions();
/// Every GPU, each tried with a real kernel, in the order of their places on the bus, as nvidia-smi lists them. Never
/// throws; no entry if there is none.
[[nodiscard]] std::vector<DeviceInfo> devices();
/// The one of that UUID, or whose UUID begins so, or that number in devices(); the first usable one for an empty text.
/// It is the calling thread's current device from then on. Throws ConfigError listing them if there is none such, and
/// DeviceError with the reason if it is not usable.
[[nodiscard]] DeviceInfo choose_device(const std::string& wanted);
/// Whether the GPU that is wanted, or any for an empty text, can be used, and why not, in one sentence. Yes if there is
/// none of that name. No other one is tried: that takes memory of it, for a context.
[[nodiscard]] Support available(const std::string& wanted);

} // namespace espalier::cuda
