// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/monitor.h"

#include "base/error.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace espalier::cuda {
namespace {

class GpuMonitor final : public DeviceMonitor {
public:
    GpuMonitor(std::string uuid, MonitorOptions options)
        : uuid_(std::move(uuid)), options_(std::move(options)),
          thread_([this](const std::stop_token& stop) { watch(stop); }) {}

    [[nodiscard]] DeviceState latest() const override {
        const std::lock_guard guard(mutex_);
        return latest_;
    }

private:
    void watch(const std::stop_token& stop) {
        std::unique_ptr<nvml::Device> device;
        try {
            device = std::make_unique<nvml::Device>(uuid_, options_.library);
        } catch (const Error&) { // a machine without it is no fault of the run: the values stay absent
        }
        while (!stop.stop_requested()) {
            auto state = device ? device->sample() : DeviceState();
            if (options_.complete)
                options_.complete(state);
            std::unique_lock lock(mutex_);
            latest_ = std::move(state);
            wake_.wait_for(lock, stop, options_.distance, [] { return false; });
        }
    }

    const std::string uuid_;
    const MonitorOptions options_;
    mutable std::mutex mutex_;
    std::condition_variable_any wake_;
    DeviceState latest_;
    std::jthread thread_; ///< last: it uses all of the above, and ends first
};

} // namespace

std::unique_ptr<DeviceMonitor> watch_gpu(std::string uuid, MonitorOptions options) {
    return std::make_unique<GpuMonitor>(std::move(uuid), std::move(options));
}

} // namespace espalier::cuda
