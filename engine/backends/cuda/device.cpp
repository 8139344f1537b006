// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device.h"

#include "backends/cuda/cudnn/library.h"
#include "backends/cuda/device_reasons.h"
#include "backends/cuda/error.h"
#include "backends/cuda/kernels/self_test.h"
#include "base/error.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

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

/// Runs a kernel there, which takes memory for a context.
void try_device(DeviceInfo& device) {
    device.usable = served(device.name, device.major, device.minor);
    if (!device.usable)
        return;
    try {
        ESPALIER_CUDA(cudaSetDevice(device.index));
        if (!self_test())
            device.usable = Support::no("A test kernel on " + device.name + " gave wrong numbers.");
        device.architecture = code_architecture();
        std::size_t total = 0;
        ESPALIER_CUDA(cudaMemGetInfo(&device.free, &total));
    } catch (const CudaError& error) {
        device.usable = Support::no(kernel_reason(device.name, error.number(), error.what()));
    } catch (const Error& error) {
        device.usable = Support::no(kernel_reason(device.name, cudaSuccess, error.what()));
    }
}

std::vector<DeviceInfo> list_devices() {
    std::vector<DeviceInfo> result;
    int count = 0;
    if (!succeeded(cudaGetDeviceCount(&count)))
        return result;
    for (int i = 0; i < count; ++i) {
        cudaDeviceProp properties{};
        if (!succeeded(cudaGetDeviceProperties(&properties, i)))
            continue;
        DeviceInfo device;
        device.index = i;
        device.uuid = uuid_text(properties.uuid);
        device.name = properties.name;
        device.major = properties.major;
        device.minor = properties.minor;
        device.multiprocessors = properties.multiProcessorCount;
        device.memory = properties.totalGlobalMem;
        if (char bus[32] = ""; succeeded(cudaDeviceGetPCIBusId(bus, sizeof bus, i)))
            device.bus = bus;
        result.push_back(std::move(device));
    }
    std::ranges::stable_sort(result, {}, &DeviceInfo::bus); // CUDA puts the fastest first
    return result;
}

std::string list_of(const std::vector<DeviceInfo>& devices) {
    std::string text;
    for (std::size_t i = 0; i < devices.size(); ++i)
        text += (i ? ", " : "") + std::to_string(i) + " is " + devices[i].name + " (" + devices[i].uuid + ")";
    return text;
}

bool is_named(const DeviceInfo& device, std::size_t number, const std::string& wanted) {
    return wanted == std::to_string(number) || (wanted.size() >= 8 && device.uuid.starts_with(wanted));
}

Support no_device(cudaError_t error) {
    const auto found = versions();
    return Support::no(no_device_reason(error, cudaGetErrorString(error), found.served, found.runtime,
                                        std::getenv("CUDA_VISIBLE_DEVICES")));
}

} // namespace

Versions versions() {
    Versions result;
    int number = 0;
    if (succeeded(cudaDriverGetVersion(&number)))
        result.served = version_text(number);
    if (succeeded(cudaRuntimeGetVersion(&number)))
        result.runtime = version_text(number);
    std::ifstream("/sys/module/nvidia/version") >> result.driver;
    result.cudnn = cudnn::version();
    return result;
}

std::vector<DeviceInfo> devices() {
    auto result = list_devices();
    for (auto& device : result)
        try_device(device);
    return result;
}

DeviceInfo choose_device(const std::string& wanted) {
    auto all = list_devices();
    Support last = Support::no("There is no NVIDIA GPU.");
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!wanted.empty() && !is_named(all[i], i, wanted))
            continue;
        try_device(all[i]);
        if (all[i].usable)
            return all[i];
        last = all[i].usable;
        if (!wanted.empty())
            throw DeviceError(last.reason);
    }
    if (!wanted.empty())
        throw ConfigError("There is no GPU \"" + wanted + "\" here: " + list_of(all) +
                          ". Name one by its number or its UUID, such as cuda:0.");
    throw DeviceError(last.reason);
}

Support available(const std::string& wanted) {
    int count = 0;
    if (const auto error = cudaGetDeviceCount(&count); !succeeded(error) || count == 0)
        return no_device(error == cudaSuccess ? cudaErrorNoDevice : error);
    if (const auto library = cudnn::usable(); !library)
        return library;
    try {
        static_cast<void>(choose_device(wanted));
    } catch (const DeviceError& error) {
        return Support::no(error.what());
    } catch (const ConfigError&) { // none of that name: whoever asks for it is told which there are
    }
    return {};
}

} // namespace espalier::cuda
