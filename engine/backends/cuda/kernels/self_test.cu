// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/self_test.h"

#include "backends/cuda/error.h"

#include <vector>

namespace espalier::cuda {
namespace {

constexpr int count = 4096;

__global__ void fill(float* values) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count)
        values[i] = static_cast<float>(i) * 0.5F + 1.0F;
}

} // namespace

bool self_test() {
    float* device = nullptr;
    ESPALIER_CUDA(cudaMalloc(&device, count * sizeof(float)));
    std::vector<float> host(count);
    fill<<<(count + 255) / 256, 256>>>(device);
    const auto launched = cudaGetLastError();
    const auto copied = cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device);
    check(launched, "the test kernel");
    check(copied, "cudaMemcpy");
    for (int i = 0; i < count; ++i)
        if (host[static_cast<std::size_t>(i)] != static_cast<float>(i) * 0.5F + 1.0F)
            return false;
    return true;
}

int code_architecture() { // all kernels are compiled for the same ones
    cudaFuncAttributes attributes{};
    ESPALIER_CUDA(cudaFuncGetAttributes(&attributes, fill));
    return attributes.ptxVersion;
}

} // namespace espalier::cuda
