// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/depthwise_weight_gradient.cuh"
#include "backends/cuda/kernels/split_sum.h"

namespace espalier::cuda {

using namespace depthwise_weights;

namespace {

/// Any window: a block sums one tap over its share of the pixels.
template <class T>
__global__ void any_weight_gradient_kernel(const T* x, const T* gy, float* partials, const Depthwise d, const Tile tile,
                                           std::int64_t splits, std::int64_t pixels_a_block) {
    __shared__ float4 sums[most_threads];
    const std::int64_t tap = blockIdx.x / splits, split = blockIdx.x % splits;
    const auto r = tap / d.kernel[1], s = tap % d.kernel[1];
    std::uint32_t lane = threadIdx.x;
    const std::uint32_t pixel = tile.lanes.split(lane), vector = blockIdx.y * tile.width + lane;
    const auto all = d.n * d.y[0] * d.y[1], begin = split * pixels_a_block;
    const auto end = begin + pixels_a_block < all ? begin + pixels_a_block : all;
    float4 sum{};
    if (vector < tile.vectors) {
        for (auto i = begin + pixel; i < end; i += tile.pixels) {
            const auto q = i % d.y[1], p = i / d.y[1] % d.y[0], image = i / d.y[1] / d.y[0];
            const auto h = p * d.stride[0] - d.padding[0] + r * d.dilation[0];
            const auto w = q * d.stride[1] - d.padding[1] + s * d.dilation[1];
            if (h >= 0 && h < d.x[0] && w >= 0 && w < d.x[1])
                multiply_add(sum, load4(gy + i * d.channels + 4 * vector),
                             load4(x + ((image * d.x[0] + h) * d.x[1] + w) * d.channels + 4 * vector));
        }
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (pixel == 0 && vector < tile.vectors) {
        for (std::uint32_t p = 1; p < tile.pixels; ++p)
            add_to(sum, sums[p * tile.width + lane]);
        store4(partials + (split * d.kernel[0] * d.kernel[1] + tap) * d.channels + 4 * vector, sum);
    }
}

template <class T, int K>
void launch_unrolled(const Depthwise& d, const DepthwiseInput& x, const T* gy, float* partials,
                     const LaunchStream& stream) {
    if (ratio_of(d) == 2)
        launch_cut<T, T, K, 2, 4, K == 3 ? 3 : 1, InputForm::plain>(d, x, gy, partials, stream);
    else
        launch<T, T, K, InputForm::plain>(d, x, gy, partials, stream);
}

template <class T>
void launch_any(const Depthwise& d, const T* x, const T* gy, float* partials, const LaunchStream& stream) {
    const auto shares = shares_of(d);
    const dim3 grid(static_cast<unsigned>(shares.splits * d.kernel[0] * d.kernel[1]), shares.tile.slabs);
    any_weight_gradient_kernel<<<grid, shares.tile.width * shares.tile.pixels, 0, stream>>>(
        x, gy, partials, d, shares.tile, shares.splits, shares.share);
}

} // namespace

std::size_t depthwise_weight_gradient_workspace(const Depthwise& d) {
    return static_cast<std::size_t>(shares_of(d).splits * d.kernel[0] * d.kernel[1] * d.channels) * sizeof(float);
}

void launch_depthwise_weight_gradient(const Depthwise& d, const void* x, const void* gy, float* workspace, void* gw,
                                      DType gw_type, const LaunchStream& stream) {
    with_type(d.type, [&](auto element) {
        using T = decltype(element);
        const auto* g = static_cast<const T*>(gy);
        const DepthwiseInput in{.x = x};
        if (!is_unrolled(d))
            return launch_any(d, static_cast<const T*>(x), g, workspace, stream);
        switch (d.kernel[0]) {
        case 3:
            return launch_unrolled<T, 3>(d, in, g, workspace, stream);
        case 5:
            return launch_unrolled<T, 5>(d, in, g, workspace, stream);
        default:
            return launch_unrolled<T, 7>(d, in, g, workspace, stream);
        }
    });
    launch_split_sum(workspace, shares_of(d).splits, d.kernel[0] * d.kernel[1] * d.channels, gw, gw_type,
                     stream.behind());
}

} // namespace espalier::cuda
