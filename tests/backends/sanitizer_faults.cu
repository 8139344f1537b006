// SPDX-License-Identifier: Apache-2.0
// Kernels with the one fault that each tool of compute-sanitizer must find, in our own namespace: a check of the check.
//
//   sanitizer_faults memcheck|initcheck|racecheck      0 when the device ran it, whatever the tool says
#include <cuda_runtime.h>

#include <cstdio>
#include <string_view>

namespace espalier {
namespace {

constexpr int threads = 64; // two warps

__global__ void write_past_the_end(int* values) {
    values[threads + threadIdx.x] = 1;
}

__global__ void read_what_nobody_wrote(int* values) {
    values[threadIdx.x] = values[threads + threadIdx.x] + 1;
}

__global__ void read_without_waiting(int* values) {
    __shared__ int of_warp[2];
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = values[threadIdx.x];
    values[threadIdx.x] = of_warp[1 - threadIdx.x / 32];
}

cudaError_t run(std::string_view tool) {
    const int count = tool == "initcheck" ? 2 * threads : threads;
    int* values = nullptr;
    if (const auto error = cudaMalloc(&values, count * sizeof(int)); error != cudaSuccess)
        return error;
    if (const auto error = cudaMemset(values, 0, threads * sizeof(int)); error != cudaSuccess)
        return error;
    if (tool == "memcheck")
        write_past_the_end<<<1, threads>>>(values);
    else if (tool == "initcheck")
        read_what_nobody_wrote<<<1, threads>>>(values);
    else
        read_without_waiting<<<1, threads>>>(values);
    const auto error = cudaDeviceSynchronize();
    cudaFree(values);
    return error;
}

} // namespace
} // namespace espalier

int main(int argc, char** argv) {
    const std::string_view tool = argc == 2 ? argv[1] : "";
    if (tool != "memcheck" && tool != "initcheck" && tool != "racecheck") {
        std::fprintf(stderr, "sanitizer_faults: expected memcheck, initcheck or racecheck\n");
        return 2;
    }
    const auto error = espalier::run(tool);
    if (error != cudaSuccess)
        std::fprintf(stderr, "sanitizer_faults: %s\n", cudaGetErrorString(error));
    return error == cudaSuccess ? 0 : 1;
}
