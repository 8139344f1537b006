// SPDX-License-Identifier: Apache-2.0
#include "nn/layer_builder.h"

#include <cmath>

namespace espalier {

namespace {

std::vector<std::int64_t> list(const Pair& pair) { return {pair[0], pair[1]}; }
std::vector<std::int64_t> list(std::int64_t both) { return {both, both}; }

Attributes attributes_of(const ConvolutionSettings& settings) {
    return {{"stride", list(settings.stride)},
            {"padding", list(settings.padding)},
            {"dilation", list(settings.dilation)},
            {"groups", settings.groups}};
}

} // namespace

ConvolutionSettings ConvolutionSettings::square(std::int64_t kernel, std::int64_t stride, std::int64_t dilation) {
    const std::int64_t padding = dilation * (kernel - 1) / 2;
    return {{kernel, kernel}, {stride, stride}, {padding, padding}, {dilation, dilation}, 1};
}

ConvolutionSettings ConvolutionSettings::with_groups(std::int64_t count) const {
    ConvolutionSettings changed = *this;
    changed.groups = count;
    return changed;
}

TensorId LayerBuilder::convolution(const std::string& name, TensorId x, std::int64_t channels,
                                   const ConvolutionSettings& settings) {
    const GraphBuilder::Scope scope(builder_, name);
    const std::int64_t inputs = channels_of(x) / settings.groups;
    const double fan_in = static_cast<double>(inputs * settings.kernel[0] * settings.kernel[1]);
    const TensorId weight = builder_.parameter("weight", {channels, inputs, settings.kernel[0], settings.kernel[1]},
                                               {Initializer::Kind::kaiming_normal, fan_in});
    return builder_.apply_one("conv2d", {x, weight, no_tensor}, attributes_of(settings));
}

TensorId LayerBuilder::identity_projection(const std::string& name, TensorId x, std::int64_t channels) {
    const GraphBuilder::Scope scope(builder_, name);
    const TensorId weight =
        builder_.parameter("weight", {channels, channels_of(x), 1, 1}, {Initializer::Kind::identity, 1.0});
    return builder_.apply_one("conv2d", {x, weight, no_tensor}, attributes_of({}));
}

TensorId LayerBuilder::batch_norm(const std::string& name, TensorId x, bool affine) {
    const GraphBuilder::Scope scope(builder_, name);
    const Shape per_channel{channels_of(x)};
    const auto one = Initializer{Initializer::Kind::constant, 1.0};
    const auto zero = Initializer{Initializer::Kind::constant, 0.0};
    const TensorId weight = affine ? builder_.parameter("weight", per_channel, one) : no_tensor;
    const TensorId bias = affine ? builder_.parameter("bias", per_channel, zero) : no_tensor;
    const TensorId mean = builder_.buffer("running_mean", per_channel, zero);
    const TensorId variance = builder_.buffer("running_var", per_channel, one);
    if (mode_ == NormMode::inference) {
        return builder_.apply_one("batch_norm_inference", {x, mean, variance, weight, bias, no_tensor},
                                  {{"eps", 1e-5}});
    }
    const bool update = mode_ == NormMode::training;
    const Attributes attributes{{"eps", 1e-5}, {"momentum", 0.1}, {"update_running", update}};
    const auto changes = update ? std::vector<TensorId>{mean, variance} : std::vector<TensorId>{};
    return builder_.apply("batch_norm", {x, weight, bias, mean, variance, no_tensor}, attributes, changes).front();
}

TensorId LayerBuilder::max_pool(TensorId x, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
    return builder_
        .apply("max_pool2d", {x}, {{"kernel", list(kernel)}, {"stride", list(stride)}, {"padding", list(padding)}})
        .front();
}

TensorId LayerBuilder::average_pool(TensorId x, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
    return builder_.apply_one(
        "avg_pool2d", {x},
        {{"kernel", list(kernel)}, {"stride", list(stride)}, {"padding", list(padding)}, {"count_include_pad", false}});
}

TensorId LayerBuilder::trained_scale(const std::string& name, TensorId x) {
    const TensorId factor = builder_.parameter(name, {1}, {Initializer::Kind::constant, 0.0});
    return builder_.apply_one("scale", {x, factor});
}

TensorId LayerBuilder::classifier(TensorId x, std::int64_t classes) {
    const GraphBuilder::Scope scope(builder_, "classifier");
    const std::int64_t inputs = channels_of(x);
    const Initializer uniform{Initializer::Kind::uniform, 1.0 / std::sqrt(static_cast<double>(inputs))};
    const TensorId weight = builder_.parameter("weight", {classes, inputs}, uniform);
    const TensorId bias = builder_.parameter("bias", {classes}, uniform);
    const TensorId pooled = builder_.apply_one("global_avg_pool", {x});
    return builder_.apply_one("linear", {pooled, weight, bias});
}

} // namespace espalier
