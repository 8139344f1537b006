// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace espalier::cuda {

/// Throws OutOfMemory for cudaErrorMemoryAllocation and DeviceError for every other failure, with the call, the
/// error's number and its text.
void check(cudaError_t error, const char* call);

/// Of a kernel that was just launched.
void check_launch(const char* kernel);

} // namespace espalier::cuda

#define ESPALIER_CUDA(call) ::espalier::cuda::check((call), #call)
