// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device.h"

#include "backends/cuda/cudnn/library.h"
#include "backends/cuda/error.h"
#include "backends/cuda/kernels/self_test.h"
#include "base/error.h"

#include <cuda_runtime_api.h>

#include <cstdio>

namespace espalier::cuda {
namespace {

std::string version_text(int version) {
    return version <= 0 ? std::string() : std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string uuid_text(const cudaUUID_t& uuid) {
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        char byte[3];
        std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
        text += byte;
        if (i == 3 || i == 5 || i == 7 || i == 9)
            text += '-';
    }
    return text;
}

Support try_device(const DeviceInfo& device) {
    if (device.major < least_major || (device.major == least_major && device.minor < least_minor))
        return Support::no(device.name + " has compute capability " + std::to_string(device.major) + "." +
                           std::to_string(device.minor) + ", but CUDA 13 needs at least 7.5.");
    try {
        ESPALIER_CUDA(cudaSetDevice(device.index));
        if (!self_test())
            return Support::no("A test kernel on " + device.name + " gave wrong numbers.");
        return {};
    } catch (const Error& error) {
        return Support::no(std::string("A test kernel on ") + device.name + " failed: " + error.what());
    }
}

/// Why no device is counted.
Support no_device(cudaError_t error) {
    const auto found = versions();
    switch (error) {
    case cudaErrorInsufficientDriver:
        return Support::no(found.driver.empty()
                               ? "No NVIDIA driver is installed."
                               : "The NVIDIA driver is too old: it serves CUDA " + found.driver + ", and CUDA " +
                                     found.runtime + " (driver 580 or newer) is needed.");
    case cudaErrorNoDevice: return Support::no("There is no NVIDIA GPU in this machine, or its driver is not loaded.");
    default: return Support::no(std::string("CUDA does not start: ") + cudaGetErrorString(error) + ".");
    }
}

} // namespace

Versions versions() {
    Versions result;
    int number = 0;
    if (cudaDriverGetVersion(&number) == cudaSuccess)
        result.driver = version_text(number);
    if (cudaRuntimeGetVersion(&number) == cudaSuccess)
        result.runtime = version_text(number);
    result.cudnn = cudnn::version();
    return result;
}

std::vector<DeviceInfo> devices() {
    std::vector<DeviceInfo> result;
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        cudaGetLastError();
        return result;
    }
    for (int i = 0; i < count; ++i) {
        cudaDeviceProp properties{};
        if (cudaGetDeviceProperties(&properties, i) != cudaSuccess)
            continue;
        DeviceInfo device;
        device.index = i;
        device.uuid = uuid_text(properties.uuid);
        device.name = properties.name;
        device.major = properties.major;
        device.minor = properties.minor;
        device.multiprocessors = properties.multiProcessorCount;
        device.memory = properties.totalGlobalMem;
        device.usable = try_device(device);
        std::size_t total = 0;
        if (device.usable && cudaMemGetInfo(&device.free, &total) != cudaSuccess)
            device.free = 0;
        result.push_back(std::move(device));
    }
    return result;
}

Support available() {
    int count = 0;
    if (const auto error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0) {
        cudaGetLastError();
        return no_device(error == cudaSuccess ? cudaErrorNoDevice : error);
    }
    if (const auto library = cudnn::usable(); !library)
        return library;
    Support last;
    for (const auto& device : devices()) {
        if (device.usable)
            return {};
        last = device.usable;
    }
    return last;
}

} // namespace espalier::cuda
