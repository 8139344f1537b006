// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/softmax.h"
#include "backends/cuda/kernels/typed.cuh"
#include "backends/cuda/kernels/warp_max.cuh"

#include <type_traits>

namespace espalier::cuda {
namespace {

constexpr int threads = 256;

/// Rows of a softmax are taken by whole warps where they are contiguous, else by single threads, whose neighbours then
/// read neighbouring elements. `lanes` is the number of threads of one row.
template <int lanes>
__device__ float row_max(float value) {
    if constexpr (lanes == 32)
        value = warp_max(value);
    return value;
}
template <int lanes>
__device__ float row_sum(float value) {
    if constexpr (lanes == 32)
        value = warp_sum(value);
    return value;
}

/// Calls body(address of the first element, this thread's first place) for every row, then zero(address of the
/// padding's element) for the padding.
template <int lanes, class Body, class Zero>
__device__ void for_each_row(const SoftmaxShape& s, Body body, Zero zero) {
    const int lane = lanes == 1 ? 0 : static_cast<int>(threadIdx.x % lanes);
    const auto rows = s.outer * s.inner;
    for (auto row = grid_index() / lanes; row < rows; row += grid_size() / lanes)
        body(row / s.inner * s.pitch + row % s.inner, lane);
    const auto real = s.extent * s.inner, padding = s.pitch - real;
    for (auto i = grid_index(); i < s.outer * padding; i += grid_size())
        zero(i / padding * s.pitch + real + i % padding);
}

template <class T, int lanes>
__global__ void __launch_bounds__(threads) softmax_kernel(const T* x, T* y, SoftmaxShape s) {
    for_each_row<lanes>(
        s,
        [&](std::int64_t at, int lane) {
            float highest = -INFINITY;
            for (auto i = static_cast<std::int64_t>(lane); i < s.extent; i += lanes)
                highest = fmaxf(highest, to_float(x[at + i * s.inner]));
            highest = row_max<lanes>(highest);
            float sum = 0;
            for (auto i = static_cast<std::int64_t>(lane); i < s.extent; i += lanes)
                sum += expf(to_float(x[at + i * s.inner]) - highest);
            sum = row_sum<lanes>(sum);
            for (auto i = static_cast<std::int64_t>(lane); i < s.extent; i += lanes)
                y[at + i * s.inner] = from_float<T>(expf(to_float(x[at + i * s.inner]) - highest) / sum);
        },
        [&](std::int64_t at) { y[at] = from_float<T>(0.0F); });
}

template <class T, int lanes>
__global__ void __launch_bounds__(threads) softmax_gradient_kernel(const T* y, const T* gy, T* gx, SoftmaxShape s) {
    for_each_row<lanes>(
        s,
        [&](std::int64_t at, int lane) {
            float dot = 0;
            for (auto i = static_cast<std::int64_t>(lane); i < s.extent; i += lanes)
                dot += to_float(y[at + i * s.inner]) * to_float(gy[at + i * s.inner]);
            dot = row_sum<lanes>(dot);
            for (auto i = static_cast<std::int64_t>(lane); i < s.extent; i += lanes) {
                const auto place = at + i * s.inner;
                gx[place] = from_float<T>(to_float(y[place]) * (to_float(gy[place]) - dot));
            }
        },
        [&](std::int64_t at) { gx[at] = from_float<T>(0.0F); });
}

template <class Body>
void with_lanes(const SoftmaxShape& s, Body&& body) {
    if (s.inner == 1)
        body(std::integral_constant<int, 32>{}, blocks_for(s.outer * 32, threads));
    else
        body(std::integral_constant<int, 1>{}, blocks_for(s.outer * s.inner, threads));
}

} // namespace

void launch_softmax(const void* x, void* y, const SoftmaxShape& shape, cudaStream_t stream) {
    with_type(shape.type, [&](auto element) {
        using T = decltype(element);
        with_lanes(shape, [&](auto lanes, unsigned blocks) {
            softmax_kernel<T, decltype(lanes)::value>
                <<<blocks, threads, 0, stream>>>(static_cast<const T*>(x), static_cast<T*>(y), shape);
        });
    });
}

void launch_softmax_gradient(const void* y, const void* gy, void* gx, const SoftmaxShape& shape, cudaStream_t stream) {
    with_type(shape.type, [&](auto element) {
        using T = decltype(element);
        with_lanes(shape, [&](auto lanes, unsigned blocks) {
            softmax_gradient_kernel<T, decltype(lanes)::value><<<blocks, threads, 0, stream>>>(
                static_cast<const T*>(y), static_cast<const T*>(gy), static_cast<T*>(gx), shape);
        });
    });
}

} // namespace espalier::cuda
