// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/overlap.cuh"
#include "backends/cuda/kernels/split_sum.h"

namespace espalier::cuda {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int some = 16; ///< loads of a thread that are on their way together

/// A block makes `columns` neighbouring sums, each of its rows of threads a share of the splits.
template <class T, int columns>
__global__ void __launch_bounds__(threads)
    split_sum_kernel(const float* partials, std::int64_t splits, std::int64_t count, T* y) {
    constexpr int rows = threads / columns;
    __shared__ float shared[warps][columns];
    const int thread = static_cast<int>(threadIdx.x), column = thread % columns, row = thread / columns;
    const auto i = static_cast<std::int64_t>(blockIdx.x) * columns + column;
    take_turn();
    float sum = 0;
    if (i < count)
        for (std::int64_t first = row; first < splits; first += some * rows) {
            const float* from = partials + first * count + i;
            float values[some];
#pragma unroll
            for (int u = 0; u < some; ++u)
                values[u] = first + u * rows < splits ? from[u * rows * count] : 0.0F;
#pragma unroll
            for (const float value : values)
                sum += value;
        }
#pragma unroll
    for (int offset = columns; offset < 32; offset *= 2)
        sum += __shfl_xor_sync(0xffffffffU, sum, offset);
    if (thread % 32 < columns)
        shared[thread / 32][column] = sum;
    __syncthreads();
    if (thread < columns && i < count) {
        float total = 0;
#pragma unroll
        for (int warp = 0; warp < warps; ++warp)
            total += shared[warp][column];
        y[i] = from_float<T>(total);
    }
}

template <class T, int columns>
void launch(const float* partials, std::int64_t splits, std::int64_t count, T* y, const LaunchStream& stream) {
    enqueue(split_sum_kernel<T, columns>, dim3(static_cast<unsigned>((count + columns - 1) / columns)), dim3(threads),
            0, stream, partials, splits, count, y);
}

} // namespace

void launch_split_sum(const float* partials, std::int64_t splits, std::int64_t count, void* y, DType type,
                      const LaunchStream& stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        // Few sums: of one sector of memory a block, so that there are blocks enough. Many: of whole lines.
        constexpr std::int64_t many = 32 * 1024;
        if (count >= many)
            launch<T, 32>(partials, splits, count, static_cast<T*>(y), stream);
        else
            launch<T, 8>(partials, splits, count, static_cast<T*>(y), stream);
    });
}

} // namespace espalier::cuda
