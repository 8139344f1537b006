// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "plan/backend.h"

#include <cudnn.h>

#include <string>

namespace espalier::cuda::cudnn {

/// "9.19.0".
[[nodiscard]] std::string version();
/// Whether every part of cuDNN that this engine needs can be opened; else names the file and the package that brings
/// it.
[[nodiscard]] Support usable();

/// The library does not take what it was asked for.
class Refusal : public DeviceError {
public:
    using DeviceError::DeviceError;
};

/// Throws with the call, the status and cuDNN's own last message: Refusal for what is not supported and for parameters
/// that it does not like, OutOfMemory where it got no memory of the device, else DeviceError.
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
