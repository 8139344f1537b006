// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device_reasons.h"

namespace espalier::cuda {
namespace {

// Of cudaError_t.
constexpr int insufficient_driver = 35, no_device = 100, no_kernel_image = 209;
constexpr int driver_mismatch = 803; // kernel module and library of the driver are of two releases

} // namespace

Support served(const std::string& card, int major, int minor) {
    if (major > least_major || (major == least_major && minor >= least_minor))
        return {};
    const auto dotted = [](int a, int b) { return std::to_string(a) + "." + std::to_string(b); };
    return Support::no(card + " has compute capability " + dotted(major, minor) + ", but CUDA 13 needs at least " +
                       dotted(least_major, least_minor) + ".");
}

std::string kernel_reason(const std::string& card, int error, const std::string& text) {
    if (error == no_kernel_image)
        return "This release has no kernels for " + card + " (CUDA error 209): a newer one may.";
    return "A test kernel on " + card + " failed: " + text;
}

std::string no_device_reason(int error, const std::string& text, const std::string& served, const std::string& needed,
                             const char* visible) {
    switch (error) {
    case insufficient_driver:
        if (served.empty())
            return "No NVIDIA driver is installed.";
        return "The NVIDIA driver is too old: it serves CUDA " + served + ", and CUDA " + needed +
               " (driver 580 or newer) is needed.";
    case no_device:
        if (visible != nullptr)
            return std::string("No NVIDIA GPU is visible: CUDA_VISIBLE_DEVICES is \"") + visible + "\".";
        return "There is no NVIDIA GPU in this machine, or its driver is not loaded.";
    case driver_mismatch:
        return "The NVIDIA driver was updated and not loaded anew: restart the machine (CUDA error 803).";
    default:
        return "CUDA does not start: " + text + " (CUDA error " + std::to_string(error) + ").";
    }
}

} // namespace espalier::cuda
