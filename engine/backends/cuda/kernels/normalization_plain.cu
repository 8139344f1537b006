// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/common.cuh"
#include "backends/cuda/kernels/normalization.h"

/// Batch normalisation of what is not an image: rare and small, so one block a channel goes through memory as it comes.
namespace espalier::cuda {
namespace {

constexpr int threads = 256;

/// Calls body(place) for every value of this block's channel.
template <class Body>
__device__ void for_values(const PlainChannels& shape, Body body) {
    const auto channel = static_cast<std::int64_t>(blockIdx.x);
    const auto count = shape.outer * shape.inner;
    for (std::int64_t i = threadIdx.x; i < count; i += threads)
        body((i / shape.inner * shape.channels + channel) * shape.inner + i % shape.inner);
}

struct Line {
    float mean, scale, bias;
};

template <class T>
__device__ void apply(const NormalizeRows& rows, const PlainChannels& shape, const Line& line) {
    const T *x = static_cast<const T*>(rows.x), *residual = static_cast<const T*>(rows.residual);
    T* y = static_cast<T*>(rows.y);
    for_values(shape, [&](std::int64_t at) {
        float value = fmaf(to_float(x[at]) - line.mean, line.scale, line.bias);
        if (residual != nullptr)
            value += to_float(residual[at]);
        y[at] = from_float<T>(rows.relu && value < 0.0F ? 0.0F : value);
    });
}

/// Zeros behind the last channel of a vector, up to a whole eight.
__device__ void clear_padding(float* vector, const PlainChannels& shape) {
    const auto end = (shape.channels + 7) / 8 * 8;
    if (vector != nullptr && blockIdx.x == 0 && shape.channels + threadIdx.x < end)
        vector[shape.channels + threadIdx.x] = 0.0F;
}

__device__ float or_one(const float* weight) { return weight != nullptr ? weight[blockIdx.x] : 1.0F; }
__device__ float or_zero(const float* bias) { return bias != nullptr ? bias[blockIdx.x] : 0.0F; }

template <class T>
__global__ void batch_norm_kernel(NormalizeRows rows, BatchStatistics s, PlainChannels shape) {
    __shared__ double shared[threads / 32];
    const T* x = static_cast<const T*>(rows.x);
    const auto count = static_cast<double>(shape.outer * shape.inner);
    double sum = 0;
    for_values(shape, [&](std::int64_t at) { sum += to_float(x[at]); });
    const double mean = block_sum(sum, shared) / count;
    double squares = 0;
    for_values(shape, [&](std::int64_t at) {
        const double distance = to_float(x[at]) - mean;
        squares += distance * distance;
    });
    squares = block_sum(squares, shared);
    const auto inv_std = static_cast<float>(1.0 / sqrt(squares / count + s.eps));
    if (threadIdx.x == 0) {
        const auto channel = blockIdx.x;
        if (s.mean != nullptr)
            s.mean[channel] = static_cast<float>(mean);
        if (s.inv_std != nullptr)
            s.inv_std[channel] = inv_std;
        if (s.running_mean != nullptr) {
            const auto unbiased = static_cast<float>(squares / (count > 1 ? count - 1 : 1));
            s.running_mean[channel] = (1 - s.momentum) * s.old_mean[channel] + s.momentum * static_cast<float>(mean);
            s.running_var[channel] = (1 - s.momentum) * s.old_var[channel] + s.momentum * unbiased;
        }
    }
    clear_padding(s.mean, shape);
    clear_padding(s.inv_std, shape);
    apply<T>(rows, shape, {static_cast<float>(mean), inv_std * or_one(rows.weight), or_zero(rows.bias)});
}

template <class T>
__global__ void normalize_kernel(NormalizeRows rows, const float* mean, const float* spread, float eps,
                                 PlainChannels shape) {
    const float inv_std = eps > 0.0F ? 1.0F / sqrtf(spread[blockIdx.x] + eps) : spread[blockIdx.x];
    apply<T>(rows, shape, {mean[blockIdx.x], inv_std * or_one(rows.weight), or_zero(rows.bias)});
}

template <class T>
__global__ void gradient_kernel(NormalizeGradient g, PlainChannels shape) {
    __shared__ double shared[threads / 32];
    const T *x = static_cast<const T*>(g.x), *gy = static_cast<const T*>(g.gy), *y = static_cast<const T*>(g.y);
    const auto masked = [&](std::int64_t at) {
        return y == nullptr || to_float(y[at]) > 0.0F ? to_float(gy[at]) : 0.0F;
    };
    const float mean = g.mean[blockIdx.x], inv_std = g.inv_std[blockIdx.x];
    double sum = 0, product = 0;
    for_values(shape, [&](std::int64_t at) {
        const double value = masked(at);
        sum += value;
        product += value * (to_float(x[at]) - mean);
    });
    sum = block_sum(sum, shared);
    product = block_sum(product, shared) * inv_std;
    if (threadIdx.x == 0) {
        if (g.gweight != nullptr)
            g.gweight[blockIdx.x] = static_cast<float>(product);
        if (g.gbias != nullptr)
            g.gbias[blockIdx.x] = static_cast<float>(sum);
    }
    clear_padding(g.gweight, shape);
    clear_padding(g.gbias, shape);
    const auto count = static_cast<double>(shape.outer * shape.inner);
    const auto offset = static_cast<float>(sum / count), slope = static_cast<float>(product * inv_std / count);
    const float scale = inv_std * or_one(g.weight);
    for_values(shape, [&](std::int64_t at) {
        const float value = masked(at); // read before gx or gresidual take the same memory
        const float distance = to_float(x[at]) - mean;
        if (g.gresidual != nullptr)
            static_cast<T*>(g.gresidual)[at] = from_float<T>(value);
        if (g.gx != nullptr)
            static_cast<T*>(g.gx)[at] = from_float<T>(scale * (value - offset - distance * slope));
    });
}

template <class T>
__global__ void channel_sum_kernel(const T* x, float* result, PlainChannels shape) {
    __shared__ double shared[threads / 32];
    double sum = 0;
    for_values(shape, [&](std::int64_t at) { sum += to_float(x[at]); });
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        result[blockIdx.x] = static_cast<float>(sum);
    clear_padding(result, shape);
}

unsigned blocks_of(const PlainChannels& shape) { return static_cast<unsigned>(shape.channels); }

} // namespace

void launch_batch_norm(const NormalizeRows& rows, const BatchStatistics& statistics, const PlainChannels& shape,
                       cudaStream_t stream) {
    with_type(rows.type, [&](auto element) {
        batch_norm_kernel<decltype(element)><<<blocks_of(shape), threads, 0, stream>>>(rows, statistics, shape);
    });
}

void launch_normalize(const NormalizeRows& rows, const float* mean, const float* spread, float eps,
                      const PlainChannels& shape, cudaStream_t stream) {
    with_type(rows.type, [&](auto element) {
        normalize_kernel<decltype(element)><<<blocks_of(shape), threads, 0, stream>>>(rows, mean, spread, eps, shape);
    });
}

void launch_batch_norm_gradient(const NormalizeGradient& gradient, const PlainChannels& shape, cudaStream_t stream) {
    with_type(gradient.type, [&](auto element) {
        gradient_kernel<decltype(element)><<<blocks_of(shape), threads, 0, stream>>>(gradient, shape);
    });
}

void launch_channel_sum(const void* x, float* result, DType type, const PlainChannels& shape, cudaStream_t stream) {
    with_type(type, [&](auto element) {
        using T = decltype(element);
        channel_sum_kernel<T><<<blocks_of(shape), threads, 0, stream>>>(static_cast<const T*>(x), result, shape);
    });
}

} // namespace espalier::cuda
