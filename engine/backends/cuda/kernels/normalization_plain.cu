// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/normalization.h"
#include "backends/cuda/kernels/plain_channels.cuh"

/// Batch normalisation of row-major activations: images of strict fp32, and what is not an image.
namespace espalier::cuda {
namespace {

/// Vectors that a thread loads before it uses the first.
constexpr int some = 4;

/// Mean and sum of squared distances from it.
struct Moments {
    double mean, squares;
};

/// Of this block's slice, in every thread. Sums of distances from the mean of its first few vectors, which is never
/// further from the slice's than the values spread, so that little cancels.
template <class T, int width>
__device__ Moments slice_moments(const T* x, const PlainSlice<width>& slice, double* shared) {
    const int first = slice.begin + static_cast<int>(threadIdx.x % 32);
    float shift = 0, found = 0;
    if (first < slice.end) {
        const auto values = load_values<T, width>(x + slice.place(first));
#pragma unroll
        for (int j = 0; j < width; ++j)
            shift += values.v[j];
        found = width;
    }
    shift = warp_sum(shift) / warp_sum(found);

    float sum = 0, square = 0;
    for_places<some>(slice, [&](const std::int64_t(&places)[some]) {
        Values<T, width> values[some];
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (places[u] >= 0)
                values[u] = load_values<T, width>(x + places[u]);
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (places[u] >= 0)
#pragma unroll
                for (int j = 0; j < width; ++j) {
                    const float distance = values[u].v[j] - shift;
                    sum += distance;
                    square = fmaf(distance, distance, square);
                }
    });
    const auto count = static_cast<double>(width * (slice.end - slice.begin));
    const double offset = block_sum(static_cast<double>(sum), shared) / count;
    const double squares = block_sum(static_cast<double>(square), shared) - count * offset * offset;
    return {shift + offset, squares > 0 ? squares : 0};
}

/// Of the whole channel, in every thread, from [slices][2].
__device__ Moments merged_moments(const float* partials, const PlainCut& cut, int width) {
    const int lane = static_cast<int>(threadIdx.x % 32), slices = static_cast<int>(gridDim.x);
    partials += 2 * blockIdx.y * static_cast<std::int64_t>(slices);
    double mean = 0, squares = 0, count = 0;
    if (lane < slices) {
        mean = partials[2 * lane];
        squares = partials[2 * lane + 1];
        count = static_cast<double>(width) * (min((lane + 1) * cut.slice, cut.vectors) - lane * cut.slice);
    }
    const double whole = warp_sum(mean * count) / (static_cast<double>(width) * cut.vectors);
    const double distance = lane < slices ? mean - whole : 0;
    return {whole, warp_sum(squares + count * distance * distance)};
}

/// y = (x - mean) scale + bias.
struct Line {
    float mean, scale, bias;
};

__device__ Line line_of(const NormalizeRows& rows, float mean, float inv_std) {
    const auto channel = blockIdx.y;
    return {mean, inv_std * (rows.weight != nullptr ? rows.weight[channel] : 1.0F),
            rows.bias != nullptr ? rows.bias[channel] : 0.0F};
}

/// y may be x or residual: each thread reads its values before it writes them.
template <class T, int width>
__device__ void apply(const NormalizeRows& rows, const PlainSlice<width>& slice, const Line& line) {
    const T *x = static_cast<const T*>(rows.x), *residual = static_cast<const T*>(rows.residual);
    T* y = static_cast<T*>(rows.y);
    for_places<some>(slice, [&](const std::int64_t(&places)[some]) {
        Values<T, width> values[some], added[some];
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (places[u] >= 0) {
                values[u] = load_values<T, width>(x + places[u]);
                added[u] = residual != nullptr ? load_values<T, width>(residual + places[u]) : Values<T, width>{};
            }
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (places[u] >= 0) {
#pragma unroll
                for (int j = 0; j < width; ++j) {
                    const float value = fmaf(values[u].v[j] - line.mean, line.scale, line.bias) + added[u].v[j];
                    values[u].v[j] = rows.relu && value < 0.0F ? 0.0F : value; // NaN stays
                }
                store_values(y + places[u], values[u]);
            }
    });
}

template <class T, int width>
__global__ void __launch_bounds__(plain_threads) moments_kernel(const T* x, PlainCut cut, float* partials) {
    __shared__ double shared[plain_threads / 32];
    const auto moments = slice_moments(x, slice_of<width>(cut), shared);
    if (threadIdx.x == 0) {
        const auto at = 2 * (static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x);
        partials[at] = static_cast<float>(moments.mean);
        partials[at + 1] = static_cast<float>(moments.squares);
    }
}

/// Without partials the slice is the whole channel.
template <class T, int width>
__global__ void __launch_bounds__(plain_threads)
    batch_norm_kernel(NormalizeRows rows, BatchStatistics s, PlainCut cut, const float* partials) {
    __shared__ double shared[plain_threads / 32];
    const auto slice = slice_of<width>(cut);
    const auto moments = partials != nullptr ? merged_moments(partials, cut, width)
                                             : slice_moments(static_cast<const T*>(rows.x), slice, shared);
    const double count = static_cast<double>(width) * cut.vectors;
    const auto mean = static_cast<float>(moments.mean);
    const auto inv_std = static_cast<float>(1.0 / sqrt(moments.squares / count + s.eps));
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        const auto channel = blockIdx.y;
        if (s.mean != nullptr)
            s.mean[channel] = mean;
        if (s.inv_std != nullptr)
            s.inv_std[channel] = inv_std;
        if (s.running_mean != nullptr) {
            const auto unbiased = static_cast<float>(moments.squares / (count > 1 ? count - 1 : 1));
            s.running_mean[channel] = (1.0F - s.momentum) * s.old_mean[channel] + s.momentum * mean;
            s.running_var[channel] = (1.0F - s.momentum) * s.old_var[channel] + s.momentum * unbiased;
        }
    }
    clear_padding(s.mean, cut.channels);
    clear_padding(s.inv_std, cut.channels);
    apply<T>(rows, slice, line_of(rows, mean, inv_std));
}

template <class T, int width>
__global__ void __launch_bounds__(plain_threads)
    normalize_kernel(NormalizeRows rows, const float* mean, const float* spread, float eps, PlainCut cut) {
    const auto channel = blockIdx.y;
    const float inv_std = eps > 0.0F ? 1.0F / sqrtf(spread[channel] + eps) : spread[channel];
    apply<T>(rows, slice_of<width>(cut), line_of(rows, mean[channel], inv_std));
}

} // namespace

void launch_batch_norm(const NormalizeRows& rows, const BatchStatistics& statistics, const PlainChannels& shape,
                       float* partials, cudaStream_t stream) {
    with_type(rows.type, [&](auto element) {
        using T = decltype(element);
        with_width(shape, [&](auto width, const PlainCut& cut) {
            const bool once = shape.slices == 1;
            if (!once)
                moments_kernel<T, width.value>
                    <<<grid_of(shape), plain_threads, 0, stream>>>(static_cast<const T*>(rows.x), cut, partials);
            batch_norm_kernel<T, width.value>
                <<<grid_of(shape), plain_threads, 0, stream>>>(rows, statistics, cut, once ? nullptr : partials);
        });
    });
}

void launch_normalize(const NormalizeRows& rows, const float* mean, const float* spread, float eps,
                      const PlainChannels& shape, cudaStream_t stream) {
    with_type(rows.type, [&](auto element) {
        using T = decltype(element);
        with_width(shape, [&](auto width, const PlainCut& cut) {
            normalize_kernel<T, width.value>
                <<<grid_of(shape), plain_threads, 0, stream>>>(rows, mean, spread, eps, cut);
        });
    });
}

} // namespace espalier::cuda
