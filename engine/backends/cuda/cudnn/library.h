// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

#include <cudnn.h>

#include <string>

namespace espalier::cuda::cudnn {

/// "9.19.0".
[[nodiscard]] std::string version();
/// Whether every part of cuDNN that this engine needs can be opened; else names the file and the package that brings
/// it.
[[nodiscard]] Support usable();

/// Throws DeviceError with the call, the status and cuDNN's own last message.
void check(cudnnStatus_t status, const char* call);

/// One cuDNN context, on one stream.
class Handle {
public:
    explicit Handle(cudaStream_t stream);
    ~Handle();
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    [[nodiscard]] cudnnHandle_t get() const { return handle_; }

private:
    cudnnHandle_t handle_ = nullptr;
};

} // namespace espalier::cuda::cudnn

#define ESPALIER_CUDNN(call) ::espalier::cuda::cudnn::check((call), #call)
