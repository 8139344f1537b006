// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/normalization.h"
#include "backends/cuda/kernels/plain_channels.cuh"

namespace espalier::cuda {
namespace {

constexpr int some = 2; ///< vectors of each tensor that a thread loads before it uses the first

/// Of gy where y > 0: its sum, and that of its products with distances from the mean.
struct Sums {
    double gradient, product;
};

template <class T, int width>
__device__ Sums slice_sums(const T* x, const T* gy, const T* y, float mean, const PlainSlice<width>& slice,
                           double* shared) {
    float gradient = 0, product = 0;
    for_places<some>(slice, [&](const std::int64_t(&places)[some]) {
        Values<T, width> gradients[some], values[some], masks[some];
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (places[u] >= 0) {
                gradients[u] = load_values<T, width>(gy + places[u]);
                if (x != nullptr)
                    values[u] = load_values<T, width>(x + places[u]);
                if (y != nullptr)
                    masks[u] = load_values<T, width>(y + places[u]);
            }
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (places[u] >= 0)
#pragma unroll
                for (int j = 0; j < width; ++j)
                    if (y == nullptr || masks[u].v[j] > 0.0F) {
                        gradient += gradients[u].v[j];
                        if (x != nullptr)
                            product = fmaf(gradients[u].v[j], values[u].v[j] - mean, product);
                    }
    });
    return {block_sum(static_cast<double>(gradient), shared), block_sum(static_cast<double>(product), shared)};
}

/// Of the whole channel, in every thread, from [slices][2].
__device__ Sums merged_sums(const float* partials, int slices) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    partials += 2 * (blockIdx.y * static_cast<std::int64_t>(slices) + lane);
    const bool there = lane < slices;
    return {warp_sum(there ? static_cast<double>(partials[0]) : 0.0),
            warp_sum(there ? static_cast<double>(partials[1]) : 0.0)};
}

__device__ void store_sums(const Sums& sums, float* partials) {
    if (threadIdx.x != 0)
        return;
    const auto at = 2 * (static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x);
    partials[at] = static_cast<float>(sums.gradient);
    partials[at + 1] = static_cast<float>(sums.product);
}

template <class T, int width>
__global__ void __launch_bounds__(plain_threads) sums_kernel(NormalizeGradient g, PlainCut cut, float* partials) {
    __shared__ double shared[plain_threads / 32];
    store_sums(slice_sums(static_cast<const T*>(g.x), static_cast<const T*>(g.gy), static_cast<const T*>(g.y),
                          g.mean != nullptr ? g.mean[blockIdx.y] : 0.0F, slice_of<width>(cut), shared),
               partials);
}

/// Without partials the slice is the whole channel.
template <class T, int width>
__global__ void __launch_bounds__(plain_threads)
    gradient_kernel(NormalizeGradient g, PlainCut cut, const float* partials) {
    __shared__ double shared[plain_threads / 32];
    const auto channel = blockIdx.y;
    const auto slice = slice_of<width>(cut);
    const T *x = static_cast<const T*>(g.x), *gy = static_cast<const T*>(g.gy), *y = static_cast<const T*>(g.y);
    T *gx = static_cast<T*>(g.gx), *gresidual = static_cast<T*>(g.gresidual);
    const float mean = g.mean[channel], inv_std = g.inv_std[channel];
    const auto sums = partials != nullptr ? merged_sums(partials, static_cast<int>(gridDim.x))
                                          : slice_sums(x, gy, y, mean, slice, shared);
    const double product = sums.product * inv_std;
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        if (g.gweight != nullptr)
            g.gweight[channel] = static_cast<float>(product);
        if (g.gbias != nullptr)
            g.gbias[channel] = static_cast<float>(sums.gradient);
    }
    clear_padding(g.gweight, cut.channels);
    clear_padding(g.gbias, cut.channels);
    if (gx == nullptr && gresidual == nullptr)
        return;
    const double count = static_cast<double>(width) * cut.vectors;
    const auto offset = static_cast<float>(sums.gradient / count),
               slope = static_cast<float>(product * inv_std / count);
    const float scale = inv_std * (g.weight != nullptr ? g.weight[channel] : 1.0F);
    for_places<some>(slice, [&](const std::int64_t(&places)[some]) {
        Values<T, width> gradients[some], values[some], masks[some];
#pragma unroll
        for (int u = 0; u < some; ++u) // before gx or gresidual take the same memory
            if (places[u] >= 0) {
                gradients[u] = load_values<T, width>(gy + places[u]);
                values[u] = load_values<T, width>(x + places[u]);
                if (y != nullptr)
                    masks[u] = load_values<T, width>(y + places[u]);
            }
#pragma unroll
        for (int u = 0; u < some; ++u)
            if (places[u] >= 0) {
#pragma unroll
                for (int j = 0; j < width; ++j) {
                    const float gradient = y == nullptr || masks[u].v[j] > 0.0F ? gradients[u].v[j] : 0.0F;
                    gradients[u].v[j] = gradient;
                    values[u].v[j] = scale * (gradient - offset - (values[u].v[j] - mean) * slope);
                }
                if (gresidual != nullptr)
                    store_values(gresidual + places[u], gradients[u]);
                if (gx != nullptr)
                    store_values(gx + places[u], values[u]);
            }
    });
}

/// One warp a channel.
__global__ void channel_sum_end_kernel(const float* partials, int slices, float* result, int channels) {
    const auto sums = merged_sums(partials, slices);
    if (threadIdx.x == 0)
        result[blockIdx.y] = static_cast<float>(sums.gradient);
    clear_padding(result, channels);
}

} // namespace

void launch_batch_norm_gradient(const NormalizeGradient& gradient, const PlainChannels& shape, float* partials,
                                cudaStream_t stream) {
    with_type(gradient.type, [&](auto element) {
        using T = decltype(element);
        with_width(shape, [&](auto width, const PlainCut& cut) {
            const bool once = shape.slices == 1;
            if (!once)
                sums_kernel<T, width.value><<<grid_of(shape), plain_threads, 0, stream>>>(gradient, cut, partials);
            gradient_kernel<T, width.value>
                <<<grid_of(shape), plain_threads, 0, stream>>>(gradient, cut, once ? nullptr : partials);
        });
    });
}

void launch_channel_sum(const void* x, float* result, DType type, const PlainChannels& shape, float* partials,
                        cudaStream_t stream) {
    NormalizeGradient summed;
    summed.gy = x;
    with_type(type, [&](auto element) {
        using T = decltype(element);
        with_width(shape, [&](auto width, const PlainCut& cut) {
            sums_kernel<T, width.value><<<grid_of(shape), plain_threads, 0, stream>>>(summed, cut, partials);
        });
    });
    channel_sum_end_kernel<<<dim3(1, static_cast<unsigned>(shape.channels)), 32, 0, stream>>>(partials, shape.slices,
                                                                                              result, shape.channels);
}

} // namespace espalier::cuda
