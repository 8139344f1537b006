// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/depthwise.h"
#include "backends/cuda/kernels/depthwise_gather.cuh"

namespace espalier::cuda {
namespace {

/// Any window: one output of four channels a thread, row by row so that large windows stay exact.
template <class T>
__global__ void any_gather_kernel(const T* in, const T* filter, const float* bias, T* out, const Gather g) {
    const std::int64_t vectors = g.channels / 4, count = g.n * g.out[0] * g.out[1] * vectors;
    take_turn();
    for (auto i = grid_index(); i < count; i += grid_size()) {
        const auto channel = i % vectors * 4;
        auto rest = i / vectors;
        const auto q = rest % g.out[1];
        rest /= g.out[1];
        const auto p = rest % g.out[0], image = rest / g.out[0];
        float4 sum{};
        for (std::int64_t r = 0; r < g.kernel[0]; ++r) {
            const auto h = p * g.stride[0] - g.padding[0] + r * g.dilation[0];
            if (h < 0 || h >= g.in[0])
                continue;
            float4 row{};
            for (std::int64_t s = 0; s < g.kernel[1]; ++s) {
                const auto w = q * g.stride[1] - g.padding[1] + s * g.dilation[1];
                if (w < 0 || w >= g.in[1])
                    continue;
                const auto tap = r * g.kernel[1] + s;
                const auto taken = g.flip ? g.kernel[0] * g.kernel[1] - 1 - tap : tap;
                multiply_add(row, load4(in + ((image * g.in[0] + h) * g.in[1] + w) * g.channels + channel),
                             load4(filter + taken * g.channels + channel));
            }
            add_to(sum, row);
        }
        if (bias != nullptr)
            add_to(sum, load4(bias + channel));
        if (g.relu)
            sum = make_float4(fmaxf(sum.x, 0), fmaxf(sum.y, 0), fmaxf(sum.z, 0), fmaxf(sum.w, 0));
        store4(out + i * 4, sum);
    }
}

struct Pointers {
    const void *in, *filter;
    const float* bias;
    void* out;
};

template <class T, int K, int Ratio, int Width>
void launch(const Gather& g, const Pointers& at, const LaunchStream& stream) {
    enqueue_gather<T, T, K, Ratio, Width, InputForm::plain, GatherEnd::activation>(
        g, at.in, static_cast<const T*>(at.filter), at.out, {}, {.bias = at.bias}, stream);
}

template <class T, int K>
bool launch_unrolled(const Gather& g, const Pointers& at, const LaunchStream& stream) {
    const auto ratio = g.stride[1] / std::gcd(g.stride[1], g.dilation[1]);
    if (ratio == 2)
        launch<T, K, 2, 4>(g, at, stream);
    else if (ratio == 1)
        gather_width(g) == 8 ? launch<T, K, 1, 8>(g, at, stream) : launch<T, K, 1, 4>(g, at, stream);
    return ratio <= 2;
}

} // namespace

void launch_gather(const Gather& g, const void* in, const void* filter, const float* bias, void* out,
                   const LaunchStream& stream) {
    const Pointers at{in, filter, bias, out};
    with_type(g.type, [&](auto element) {
        using T = decltype(element);
        if (is_unrolled(g)) {
            if (g.kernel[0] == 3 && launch_unrolled<T, 3>(g, at, stream))
                return;
            if (g.kernel[0] == 5 && launch_unrolled<T, 5>(g, at, stream))
                return;
            if (g.kernel[0] == 7 && launch_unrolled<T, 7>(g, at, stream))
                return;
        }
        enqueue(any_gather_kernel<T>, dim3(blocks_for(g.n * g.out[0] * g.out[1] * g.channels / 4, gather_threads)),
                dim3(gather_threads), 0, stream, static_cast<const T*>(in), static_cast<const T*>(filter), bias,
                static_cast<T*>(out), g);
    });
}

Gather forward_gather(const Depthwise& shape, bool relu) {
    return {.n = shape.n,
            .in = shape.x,
            .out = shape.y,
            .channels = shape.channels,
            .kernel = shape.kernel,
            .stride = shape.stride,
            .padding = shape.padding,
            .dilation = shape.dilation,
            .flip = false,
            .relu = relu,
            .type = shape.type};
}

void launch_depthwise(const Depthwise& shape, const void* x, const void* filter, const float* bias, bool relu, void* y,
                      const LaunchStream& stream) {
    launch_gather(forward_gather(shape, relu), x, filter, bias, y, stream);
}

std::string window_text(const Depthwise& shape) {
    const auto pair = [](const std::array<std::int64_t, 2>& values) {
        return values[0] == values[1] ? std::to_string(values[0])
                                      : std::to_string(values[0]) + "," + std::to_string(values[1]);
    };
    std::string text = std::to_string(shape.kernel[0]) + "x" + std::to_string(shape.kernel[1]);
    if (shape.stride[0] != 1 || shape.stride[1] != 1)
        text += " stride " + pair(shape.stride);
    if (shape.dilation[0] != 1 || shape.dilation[1] != 1)
        text += " dilation " + pair(shape.dilation);
    return text;
}

} // namespace espalier::cuda
