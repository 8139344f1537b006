// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/depthwise.h"
#include "backends/cuda/kernels/four.cuh"

/// The device's side of DepthwiseInput: four channels of a batch norm and a ReLU that an image goes through while it is
/// read.
namespace espalier::cuda {

enum class InputForm { plain, relu, normalised };

inline InputForm form_of(const DepthwiseInput& input) {
    return input.mean != nullptr ? InputForm::normalised : input.relu ? InputForm::relu : InputForm::plain;
}

struct InputChannels {
    float4 mean, scale, bias;
};

__device__ inline InputChannels channels_of(const DepthwiseInput& in, std::uint32_t channel) {
    InputChannels c{load4(in.mean + channel), load4(in.inv_std + channel), float4{}};
    if (in.weight != nullptr) {
        const float4 w = load4(in.weight + channel);
        c.scale = make_float4(c.scale.x * w.x, c.scale.y * w.y, c.scale.z * w.z, c.scale.w * w.w);
    }
    if (in.bias != nullptr)
        c.bias = load4(in.bias + channel);
    return c;
}

__device__ inline float positive(float v) { return v < 0.0F ? 0.0F : v; } // NaN stays
__device__ inline float4 positive(const float4& v) {
    return make_float4(positive(v.x), positive(v.y), positive(v.z), positive(v.w));
}
__device__ inline float4 where_positive(const float4& x, const float4& v) {
    return make_float4(x.x > 0.0F ? v.x : 0.0F, x.y > 0.0F ? v.y : 0.0F, x.z > 0.0F ? v.z : 0.0F,
                       x.w > 0.0F ? v.w : 0.0F);
}
__device__ inline float4 normalised(const float4& x, const InputChannels& c) {
    return make_float4(fmaf(x.x - c.mean.x, c.scale.x, c.bias.x), fmaf(x.y - c.mean.y, c.scale.y, c.bias.y),
                       fmaf(x.z - c.mean.z, c.scale.z, c.bias.z), fmaf(x.w - c.mean.w, c.scale.w, c.bias.w));
}
__device__ inline float4 entered(const float4& x, const InputChannels& c, bool relu) {
    const float4 v = normalised(x, c);
    return relu ? positive(v) : v;
}

} // namespace espalier::cuda
