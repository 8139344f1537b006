// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/ceil_divide.h"
#include "backends/cuda/kernels/expansion.h"
#include "backends/cuda/kernels/overlap.cuh"
#include "backends/cuda/kernels/squares.cuh"

#include <algorithm>

/// A block keeps the weights of block_filters filters in shared memory; each of its warps takes 16 rows of x at a time
/// straight into registers, the next 16 on their way, and writes what they give for these filters. So that both x and y
/// move in whole vectors, sums and results are in an order of our own, which the weights are laid down in once:
/// - of every 32 channels, lane t of four has the channels 8t to 8t + 7 of a row, the factors of two products in turn;
/// - of every 32 filters, lane t of four gets the results 8t to 8t + 7 of a row.
namespace espalier::cuda {
namespace {

constexpr int warps = 8, threads = 32 * warps, blocks_a_multiprocessor = 2;
constexpr int unit_rows = 16;
constexpr int chunk_filters = 64; ///< summed at a time
constexpr int block_filters = 2 * chunk_filters;
constexpr int group = 32; ///< channels, or filters, that four lanes share as vectors of eight
constexpr int most_groups = 2;

std::int64_t groups_of(const Expansion& s) { return ceil_divide(s.channels, group); }

/// Halves from one filter to the next in shared memory: an odd number of 16 bytes, so that eight filters meet every
/// bank.
constexpr int pitch(int groups) { return group * groups + 8; }

#if __CUDA_ARCH__ >= 800

/// The filter whose weights stand in a row of shared memory.
__device__ int filter_of(int row) {
    const int eight = row / 8, lane = row % 8 / 2, place = row % 2;
    return eight / 4 * group + 8 * lane + eight % 4 * 2 + place;
}

/// Eight channels of a filter, as lane t of four multiplies them, to their places in its row of shared memory.
template <class T>
__device__ void store_weights(T* row, int eight, const uint4& weights) {
    auto* to = reinterpret_cast<std::uint32_t*>(row + eight / 4 * group) + eight % 4;
    to[0] = weights.x;
    to[4] = weights.y;
    to[8] = weights.z;
    to[12] = weights.w;
}

/// A warp's rows of x: lane 4g + t has the vectors t of the rows g and g + 8.
template <int groups>
struct Rows {
    uint4 v[2][groups];

    template <class T>
    __device__ void load(const T* x, const Expansion& s, std::int64_t first) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
        for (int half_unit = 0; half_unit < 2; ++half_unit) {
            const auto row = first + lane / 4 + 8 * half_unit;
#pragma unroll
            for (int i = 0; i < groups; ++i) {
                const int channel = group * i + lane % 4 * 8;
                v[half_unit][i] = row < s.rows && channel < s.channels
                                      ? *reinterpret_cast<const uint4*>(x + row * s.channels + channel)
                                      : uint4{};
            }
        }
    }
    /// The left factor of product `step`, of 16 channels.
    __device__ void factor(std::uint32_t (&f)[4], int step) const {
        const uint4 &top = v[0][step / 2], &bottom = v[1][step / 2];
        f[0] = step % 2 ? top.z : top.x;
        f[1] = step % 2 ? bottom.z : bottom.x;
        f[2] = step % 2 ? top.w : top.y;
        f[3] = step % 2 ? bottom.w : bottom.y;
    }
};

/// sums[j] = the products of a warp's rows with eight filters, from row 8j of `weights` in shared memory.
template <class T, int groups>
__device__ void multiply(Piece16x8 (&sums)[chunk_filters / 8], const Rows<groups>& rows, const T* weights) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const T* of_lane = weights + (lane / 16 * 8 + lane % 8) * pitch(groups) + lane / 8 % 2 * 8;
#pragma unroll
    for (int step = 0; step < 2 * groups; ++step) {
        std::uint32_t x[4];
        rows.factor(x, step);
#pragma unroll
        for (int j = 0; j < chunk_filters / 8; j += 2) {
            std::uint32_t w[4];
            load_squares<4, false>(w, of_lane + j * 8 * pitch(groups) + 16 * step);
            const std::uint32_t left[2] = {w[0], w[1]}, right[2] = {w[2], w[3]};
            multiply_squares(sums[j], x, left, T{});
            multiply_squares(sums[j + 1], x, right, T{});
        }
    }
}

/// Writes sums as vectors of eight filters from `filter` on; `ends`: with bias and ReLU.
template <bool ends, class T>
__device__ void store(const Piece16x8 (&sums)[chunk_filters / 8], const Expansion& s, const float* bias, T* y,
                      std::int64_t first, int filter) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int j = 0; j < chunk_filters / 8; j += 4) {
        const int column = filter + 8 * j + lane % 4 * 8;
        if (column >= s.filters)
            continue;
        Eight added{};
        if constexpr (ends)
#pragma unroll
            for (int i = 0; i < 8; ++i)
                added.v[i] = bias != nullptr && column + i < s.real_filters ? bias[column + i] : 0.0F;
#pragma unroll
        for (int half_unit = 0; half_unit < 2; ++half_unit) {
            const auto row = first + lane / 4 + 8 * half_unit;
            if (row >= s.rows)
                continue;
            Eight result;
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                float& value = result.v[i] = sums[j + i / 2].v[2 * half_unit + i % 2];
                if constexpr (ends) {
                    value += added.v[i];
                    value = s.relu ? fmaxf(value, 0.0F) : value;
                }
            }
            store8(y + row * s.filters + column, result);
        }
    }
}

#endif

template <class T, int groups, bool ends>
__global__ void __launch_bounds__(threads, blocks_a_multiprocessor)
    expansion_kernel(const T* x, const T* w, const float* bias, T* y, Expansion s) {
#if __CUDA_ARCH__ >= 800
    __shared__ __align__(16) T weights[block_filters * pitch(groups)];
    const int thread = static_cast<int>(threadIdx.x), first_filter = static_cast<int>(blockIdx.x) * block_filters;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * warps * unit_rows;
    auto first = (static_cast<std::int64_t>(thread / 32) * gridDim.y + blockIdx.y) * unit_rows;

    take_turn();
    Rows<groups> rows, next;
    rows.load(x, s, first);
    next.load(x, s, first + step);
    constexpr int eights = 4 * groups, each = block_filters * eights / threads;
    uint4 loaded[each];
#pragma unroll
    for (int i = 0; i < each; ++i) {
        const int at = thread + i * threads, filter = first_filter + filter_of(at / eights), channel = at % eights * 8;
        loaded[i] = filter < s.filters && channel < s.channels
                        ? *reinterpret_cast<const uint4*>(w + static_cast<std::int64_t>(filter) * s.channels + channel)
                        : uint4{};
    }
#pragma unroll
    for (int i = 0; i < each; ++i) {
        const int at = thread + i * threads;
        store_weights(weights + at / eights * pitch(groups), at % eights, loaded[i]);
    }
    __syncthreads();

    for (; first < s.rows; first += step) {
#pragma unroll
        for (int chunk = 0; chunk < block_filters; chunk += chunk_filters) {
            Piece16x8 sums[chunk_filters / 8];
            multiply(sums, rows, weights + chunk * pitch(groups));
            store<ends>(sums, s, bias, y, first, first_filter + chunk);
        }
        rows = next;
        next.load(x, s, first + 2 * step);
    }
#endif
}

template <class T, int groups>
void launch(const Expansion& s, const void* x, const void* w, const float* bias, void* y, const LaunchStream& stream) {
    const auto across = ceil_divide(s.filters, block_filters);
    const auto most = std::max<std::int64_t>(1, blocks_a_multiprocessor * s.multiprocessors / across);
    const auto down = std::min(ceil_divide(s.rows, warps * unit_rows), most);
    const bool ends = bias != nullptr || s.relu;
    enqueue(ends ? expansion_kernel<T, groups, true> : expansion_kernel<T, groups, false>,
            dim3(static_cast<unsigned>(across), static_cast<unsigned>(down)), dim3(threads), 0, stream,
            static_cast<const T*>(x), static_cast<const T*>(w), bias, static_cast<T*>(y), s);
}

template <class T>
void launch(const Expansion& s, const void* x, const void* w, const float* bias, void* y, const LaunchStream& stream) {
    static_assert(most_groups == 2);
    groups_of(s) == 1 ? launch<T, 1>(s, x, w, bias, y, stream) : launch<T, 2>(s, x, w, bias, y, stream);
}

} // namespace

bool is_expansion(const Expansion& s, int architecture) {
    constexpr int least_architecture = 80; // the kernel is empty below
    if (architecture < least_architecture || size_of(s.type) != 2 || groups_of(s) > most_groups)
        return false;
    if (groups_of(s) == 1)
        return s.filters >= group;
    constexpr std::int64_t many_rows = 16 * 1024;
    return s.filters >= 2 * s.channels && s.filters % block_filters == 0 && s.rows >= many_rows;
}

void launch_expansion(const Expansion& s, const void* x, const void* w, const float* bias, void* y,
                      const LaunchStream& stream) {
    if (s.type == DType::f16)
        launch<half>(s, x, w, bias, y, stream);
    else
        launch<bfloat16>(s, x, w, bias, y, stream);
}

} // namespace espalier::cuda
