// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/compare.h"

#include "backends/cuda/error.h"
#include "backends/cuda/kernels/common.cuh"

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

template <class T>
__global__ void random_kernel(T* values, std::int64_t count, unsigned seed) {
    for (auto i = grid_index(); i < count; i += grid_size()) {
        auto bits = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL + seed * 0xbf58476d1ce4e5b9ULL;
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
        values[i] = from_float<T>(static_cast<float>(bits >> 40) * (2.0F / 16777216.0F) - 1.0F);
    }
}

template <class T>
__global__ void difference_kernel(const T* a, const T* b, std::int64_t count, double* sums) {
    __shared__ double shared[threads / 32];
    double difference = 0, size = 0;
    for (auto i = grid_index(); i < count; i += grid_size()) {
        difference += fabs(static_cast<double>(to_float(a[i])) - to_float(b[i]));
        size += fabs(static_cast<double>(to_float(a[i])));
    }
    difference = block_sum(difference, shared);
    size = block_sum(size, shared);
    if (threadIdx.x == 0) {
        atomicAdd(&sums[0], difference);
        atomicAdd(&sums[1], size);
    }
}

} // namespace

void fill_random(void* values, DType type, std::int64_t count, unsigned seed, cudaStream_t stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        random_kernel<<<blocks_for(count, threads, 2048), threads, 0, stream>>>(static_cast<T*>(values), count, seed);
    });
    check_launch("random");
}

double relative_difference(const void* a, const void* b, DType type, std::int64_t count, double* sums,
                           cudaStream_t stream) {
    ESPALIER_CUDA(cudaMemsetAsync(sums, 0, 2 * sizeof(double), stream));
    with_type(type, [&](auto element) {
        using T = decltype(element);
        difference_kernel<<<blocks_for(count, threads, 2048), threads, 0, stream>>>(
            static_cast<const T*>(a), static_cast<const T*>(b), count, sums);
    });
    check_launch("difference");
    double host[2] = {};
    ESPALIER_CUDA(cudaMemcpyAsync(host, sums, sizeof host, cudaMemcpyDeviceToHost, stream));
    ESPALIER_CUDA(cudaStreamSynchronize(stream));
    return host[1] > 0 ? host[0] / host[1] : host[0];
}

} // namespace espalier::cuda
