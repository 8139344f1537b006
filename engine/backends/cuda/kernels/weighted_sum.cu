// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/overlap.cuh"
#include "backends/cuda/kernels/weighted_sum.h"

#include <algorithm>

namespace espalier::cuda {
namespace {

constexpr int threads = 256;
/// Blocks of the first stage of the dots: two for each multiprocessor of the largest chips, so that the second has
/// little to do.
constexpr std::int64_t most_blocks = 264;

template <class Pointer>
struct Candidates {
    Pointer at[most_candidates];
    int place[most_candidates];
    int count;
};

template <class T>
__global__ void __launch_bounds__(threads) weighted_sum_kernel(const __grid_constant__ Candidates<const T*> x,
                                                               const float* w, T* y, bool add, std::int64_t count) {
    __shared__ float weights[most_candidates];
    take_turn();
    for (int k = static_cast<int>(threadIdx.x); k < x.count; k += threads)
        weights[k] = w[x.place[k]];
    __syncthreads();
    const auto eights = count / 8;
    for (auto i = grid_index(); i < eights; i += grid_size()) {
        Eight sum{};
        if (add)
            sum = load8(y + 8 * i);
#pragma unroll 4
        for (int k = 0; k < x.count; ++k) {
            const Eight e = load8(x.at[k] + 8 * i);
            const float weight = weights[k];
#pragma unroll
            for (int j = 0; j < 8; ++j)
                sum.v[j] += weight * e.v[j];
        }
        store8(y + 8 * i, sum);
    }
    for (auto i = 8 * eights + grid_index(); i < count; i += grid_size()) {
        float sum = add ? to_float(y[i]) : 0.0F;
        for (int k = 0; k < x.count; ++k)
            sum += weights[k] * to_float(x.at[k][i]);
        y[i] = from_float<T>(sum);
    }
}

template <class T>
__global__ void __launch_bounds__(threads)
    gradient_kernel(const __grid_constant__ Candidates<T*> gx, const float* w, const T* gy, std::int64_t count) {
    __shared__ float weights[most_candidates];
    take_turn();
    for (int k = static_cast<int>(threadIdx.x); k < gx.count; k += threads)
        weights[k] = w[gx.place[k]];
    __syncthreads();
    const auto eights = count / 8;
    for (auto i = grid_index(); i < eights; i += grid_size()) {
        const Eight g = load8(gy + 8 * i);
        for (int k = 0; k < gx.count; ++k) {
            Eight e;
#pragma unroll
            for (int j = 0; j < 8; ++j)
                e.v[j] = weights[k] * g.v[j];
            store8(gx.at[k] + 8 * i, e);
        }
    }
    for (auto i = 8 * eights + grid_index(); i < count; i += grid_size())
        for (int k = 0; k < gx.count; ++k)
            gx.at[k][i] = from_float<T>(weights[k] * to_float(gy[i]));
}

/// Dots of gy with `group` candidates from blockIdx.y * group on: their sums stay in registers, gy is read once a
/// group.
template <class T, int group>
__global__ void __launch_bounds__(threads, 2)
    dots_kernel(const __grid_constant__ Candidates<const T*> x, const T* gy, double* partials, std::int64_t count) {
    __shared__ double shared[threads / 32];
    const int first = static_cast<int>(blockIdx.y) * group;
    double sums[group] = {};
    take_turn();
    const auto eights = count / 8;
    for (auto i = grid_index(); i < eights; i += grid_size()) {
        const Eight g = load8(gy + 8 * i);
#pragma unroll
        for (int k = 0; k < group; ++k) {
            const Eight e = load8(x.at[first + k] + 8 * i);
            float dot = g.v[0] * e.v[0];
#pragma unroll
            for (int j = 1; j < 8; ++j)
                dot += g.v[j] * e.v[j];
            sums[k] += dot;
        }
    }
    for (auto i = 8 * eights + grid_index(); i < count; i += grid_size())
#pragma unroll
        for (int k = 0; k < group; ++k)
            sums[k] += static_cast<double>(to_float(gy[i])) * to_float(x.at[first + k][i]);
#pragma unroll
    for (int k = 0; k < group; ++k) {
        if (first + k >= x.count)
            break;
        const double sum = block_sum(sums[k], shared);
        if (threadIdx.x == 0)
            partials[static_cast<std::int64_t>(first + k) * gridDim.x + blockIdx.x] = sum;
    }
}

struct Places {
    int at[most_candidates];
    int count;
};

constexpr int end_threads = 512;

/// One warp a candidate.
__global__ void __launch_bounds__(end_threads)
    dots_end_kernel(const __grid_constant__ Places places, const double* partials, int blocks, float* gw,
                    std::int64_t table, bool clear) {
    take_turn();
    if (clear)
        for (std::int64_t i = threadIdx.x; i < table; i += end_threads)
            gw[i] = 0.0F;
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x % 32);
    for (int k = static_cast<int>(threadIdx.x / 32); k < places.count; k += end_threads / 32) {
        double sum = 0;
        for (int i = lane; i < blocks; i += 32)
            sum += partials[static_cast<std::int64_t>(k) * blocks + i];
        sum = warp_sum(sum);
        if (lane == 0)
            gw[places.at[k]] = static_cast<float>(sum);
    }
}

unsigned eight_blocks(std::int64_t count) { return blocks_for(count / 8 + 1, threads); }

} // namespace

void launch_weighted_sum(const float* w, std::span<const int> places, std::span<const void* const> x, void* y, bool add,
                         std::int64_t count, DType type, const LaunchStream& stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        Candidates<const T*> candidates{};
        candidates.count = static_cast<int>(x.size());
        std::ranges::copy(places, candidates.place);
        for (std::size_t i = 0; i < x.size(); ++i)
            candidates.at[i] = static_cast<const T*>(x[i]);
        enqueue(weighted_sum_kernel<T>, dim3(eight_blocks(count)), dim3(threads), 0, stream, candidates, w,
                static_cast<T*>(y), add, count);
    });
}

void launch_weighted_sum_gradient(const float* w, std::span<const int> places, const void* gy,
                                  std::span<void* const> gx, std::int64_t count, DType type,
                                  const LaunchStream& stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        Candidates<T*> candidates{};
        for (std::size_t i = 0; i < gx.size(); ++i) {
            if (gx[i] == nullptr)
                continue;
            candidates.place[candidates.count] = places[i];
            candidates.at[candidates.count++] = static_cast<T*>(gx[i]);
        }
        if (candidates.count > 0)
            enqueue(gradient_kernel<T>, dim3(eight_blocks(count)), dim3(threads), 0, stream, candidates, w,
                    static_cast<const T*>(gy), count);
    });
}

std::int64_t weighted_sum_partials(std::int64_t count) { return blocks_for(count / 8 + 1, threads, most_blocks); }

void launch_weighted_sum_dots(const void* gy, std::span<const void* const> x, double* partials, std::int64_t count,
                              DType type, const LaunchStream& stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        Candidates<const T*> candidates{};
        candidates.count = static_cast<int>(x.size());
        for (std::size_t i = 0; i < most_candidates; ++i)
            candidates.at[i] = static_cast<const T*>(x[i < x.size() ? i : 0]);
        const auto blocks = static_cast<unsigned>(weighted_sum_partials(count));
        const auto launch = [&](auto group_constant) {
            constexpr int group = decltype(group_constant)::value;
            const auto groups = static_cast<unsigned>((candidates.count + group - 1) / group);
            enqueue(dots_kernel<T, group>, dim3(blocks, groups), dim3(threads), 0, stream, candidates,
                    static_cast<const T*>(gy), partials, count);
        };
        if (candidates.count == 1)
            launch(std::integral_constant<int, 1>{});
        else if (candidates.count == 2)
            launch(std::integral_constant<int, 2>{});
        else if (candidates.count <= 4)
            launch(std::integral_constant<int, 4>{});
        else if (candidates.count <= 8)
            launch(std::integral_constant<int, 8>{});
        else
            launch(std::integral_constant<int, 16>{});
    });
}

void launch_weighted_sum_dots_end(const double* partials, std::span<const int> places, float* gw, std::int64_t table,
                                  bool clear, std::int64_t count, const LaunchStream& stream) {
    Places at{};
    at.count = static_cast<int>(places.size());
    std::ranges::copy(places, at.at);
    enqueue(dots_end_kernel, dim3(1), dim3(end_threads), 0, stream, at, partials,
            static_cast<int>(weighted_sum_partials(count)), gw, table, clear);
}

} // namespace espalier::cuda
