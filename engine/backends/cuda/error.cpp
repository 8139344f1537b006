// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/error.h"

#include <string>

namespace espalier::cuda {

bool succeeded(cudaError_t error) {
    if (error == cudaSuccess)
        return true;
    cudaGetLastError(); // the next launch must not find it; that of a device which is lost stays
    return false;
}

void check(cudaError_t error, const char* call) {
    if (succeeded(error))
        return;
    const std::string text = std::string(cudaGetErrorString(error)) + " (CUDA error " + std::to_string(error) + ", " +
                             cudaGetErrorName(error) + ", in " + call + ")";
    if (error == cudaErrorMemoryAllocation)
        throw OutOfMemory("The GPU has no memory left for this: " + text +
                          ". Take a smaller batch, turn recomputation on, or close other programs that use the GPU.");
    throw CudaError("The GPU failed: " + text + ".", error);
}

void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

} // namespace espalier::cuda
