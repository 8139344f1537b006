// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"

#include <cuda_runtime_api.h>

namespace espalier::cuda {

/// A call of CUDA's runtime failed.
class CudaError : public DeviceError {
public:
    CudaError(const std::string& text, cudaError_t number) : DeviceError(text), number_(number) {}
    [[nodiscard]] cudaError_t number() const noexcept { return number_; }

private:
    cudaError_t number_;
};

/// Throws OutOfMemory for cudaErrorMemoryAllocation and CudaError for every other failure, with the call, the error's
/// number and its text. CUDA keeps it no longer, unless the device is lost: whoever catches it can go on.
void check(cudaError_t error, const char* call);

/// The same, answering false instead of throwing.
[[nodiscard]] bool succeeded(cudaError_t error);

/// Of a kernel that was just launched.
void check_launch(const char* kernel);

} // namespace espalier::cuda

#define ESPALIER_CUDA(call) ::espalier::cuda::check((call), #call)
