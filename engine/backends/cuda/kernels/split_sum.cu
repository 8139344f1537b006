// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/overlap.cuh"
#include "backends/cuda/kernels/split_sum.h"

namespace espalier::cuda {
namespace {

constexpr int columns = 32, rows = 32;
constexpr int some = 8; ///< loads of a thread that are on their way together

/// A warp reads neighbouring sums, each warp its share of the splits, so that the loads of one sum are in flight
/// together.
template <class T>
__global__ void __launch_bounds__(columns* rows)
    split_sum_kernel(const float* partials, std::int64_t splits, std::int64_t count, T* y) {
    __shared__ float shared[rows][columns + 1];
    const auto lane = threadIdx.x % columns, row = threadIdx.x / columns;
    const auto i = static_cast<std::int64_t>(blockIdx.x) * columns + lane;
    take_turn();
    float sum = 0;
    if (i < count)
        for (std::int64_t first = row; first < splits; first += some * rows) {
            float values[some];
#pragma unroll
            for (int u = 0; u < some; ++u)
                values[u] = first + u * rows < splits ? partials[(first + u * rows) * count + i] : 0.0F;
#pragma unroll
            for (const float value : values)
                sum += value;
        }
    shared[row][lane] = sum;
    __syncthreads();
    // Transposed: each warp adds what the warps found for one sum.
    const float total = warp_sum(shared[lane][row]);
    const auto place = static_cast<std::int64_t>(blockIdx.x) * columns + row;
    if (lane == 0 && place < count)
        y[place] = from_float<T>(total);
}

} // namespace

void launch_split_sum(const float* partials, std::int64_t splits, std::int64_t count, void* y, DType type,
                      const LaunchStream& stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        enqueue(split_sum_kernel<T>, dim3(static_cast<unsigned>((count + columns - 1) / columns)), dim3(columns * rows),
                0, stream, partials, splits, count, static_cast<T*>(y));
    });
}

} // namespace espalier::cuda
