// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/nvml.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace espalier::cuda {

struct MonitorOptions {
    std::string library = nvml::library_name;
    std::chrono::milliseconds distance{500}; ///< between two samples
    /// Called in the monitor's thread after each sample, for what NVML did not tell. May be empty; must not throw.
    std::function<void(DeviceState&)> complete;
};

/// Watches the GPU of that UUID by NVML, which is opened in the monitor's own thread. Without NVML, or without that
/// GPU, it knows what `complete` says alone.
[[nodiscard]] std::unique_ptr<DeviceMonitor> watch_gpu(std::string uuid, MonitorOptions options = {});

} // namespace espalier::cuda
