// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cudnn/library.h"

#include "base/error.h"

#include <dlfcn.h>

namespace espalier::cuda::cudnn {
namespace {

/// The parts that libcudnn.so.9 opens by itself when they are first needed: a missing one would show in the middle of
/// a run.
constexpr const char* parts[] = {"libcudnn_graph.so.9", "libcudnn_heuristic.so.9", "libcudnn_engines_precompiled.so.9",
                                 "libcudnn_ops.so.9", "libcudnn_cnn.so.9"};

} // namespace

std::string version() {
    const auto number = cudnnGetVersion(); // 91900
    return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
           std::to_string(number % 100);
}

Support usable() {
    for (const char* part : parts) {
        // Stays open: the library opens its parts by itself when they are first needed, and does not bear that one was
        // closed before.
        if (dlopen(part, RTLD_LAZY | RTLD_LOCAL) == nullptr) {
            const char* reason = dlerror();
            return Support::no(std::string("A part of cuDNN cannot be opened: ") + part +
                               ". Install the package libcudnn9-cuda-13 again (" +
                               (reason != nullptr ? reason : "no reason given") + ").");
        }
    }
    return {};
}

void check(cudnnStatus_t status, const char* call) {
    if (status == CUDNN_STATUS_SUCCESS)
        return;
    char message[512] = "";
    cudnnGetLastErrorString(message, sizeof message);
    const std::string text = std::string("cuDNN failed: ") + cudnnGetErrorString(status) + " in " + call +
                             (message[0] != 0 ? std::string(": ") + message : std::string()) + ".";
    if (status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
        throw OutOfMemory(text +
                          " The GPU has no memory left for this: take a smaller batch, turn recomputation on, or "
                          "close other programs that use the GPU.");
    const int kind = status / 1000;
    if (kind == CUDNN_STATUS_BAD_PARAM / 1000 || kind == CUDNN_STATUS_NOT_SUPPORTED / 1000)
        throw Refusal(text);
    throw DeviceError(text);
}

Handle::Handle(cudaStream_t stream) {
    ESPALIER_CUDNN(cudnnCreate(&handle_));
    if (const auto status = cudnnSetStream(handle_, stream); status != CUDNN_STATUS_SUCCESS) {
        cudnnDestroy(handle_);
        check(status, "cudnnSetStream");
    }
}

Handle::~Handle() { cudnnDestroy(handle_); }

} // namespace espalier::cuda::cudnn
