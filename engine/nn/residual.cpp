// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.h"
#include "nn/layer_builder.h"
#include "nn/networks.h"

namespace espalier {

namespace {

/// Residual network of basic blocks (He et al. 2016) of the kind used for CIFAR: stage i has stages[i] blocks of width
/// base_width * 2^i. ResNet-18 is base_width 64, stages {2, 2, 2, 2}.
struct ResidualSettings {
    std::int64_t base_width = 16;
    std::vector<std::int64_t> stages{1, 1, 1};

    static ResidualSettings from(const Json& json) {
        ResidualSettings settings;
        JsonFields fields(json, "network");
        fields.read("base_width", settings.base_width, 1, 1024);
        fields.read("stages", settings.stages, 1, 100);
        fields.finish();
        check_list_size("network.stages", settings.stages.size(), 1, 6);
        return settings;
    }
    [[nodiscard]] Json to_json() const { return {{"base_width", base_width}, {"stages", stages}}; }
};

/// Images with a side above this get the stem of ImageNet networks, which makes them four times smaller first.
constexpr std::int64_t largest_for_small_stem = 64;

TensorId stem(LayerBuilder& layers, const NetworkSpec& spec, TensorId x, std::int64_t width) {
    const bool large = std::max(spec.height, spec.width) > largest_for_small_stem;
    const GraphBuilder::Scope scope(layers.ops(), "stem", true);
    x = layers.convolution("0", x, width, large ? ConvolutionSettings::square(7, 2) : ConvolutionSettings::square(3));
    x = layers.relu(layers.batch_norm("1", x));
    return large ? layers.max_pool(x, 3, 2, 1) : x;
}

TensorId basic_block(LayerBuilder& layers, TensorId x, std::int64_t width, std::int64_t stride) {
    TensorId y = layers.convolution("conv1", x, width, ConvolutionSettings::square(3, stride));
    y = layers.relu(layers.batch_norm("bn1", y));
    y = layers.convolution("conv2", y, width, ConvolutionSettings::square(3));
    y = layers.batch_norm("bn2", y);
    TensorId shortcut = x;
    if (stride != 1 || layers.channels_of(x) != width) {
        const GraphBuilder::Scope scope(layers.ops(), "shortcut");
        shortcut = layers.convolution("0", x, width, ConvolutionSettings::square(1, stride));
        shortcut = layers.batch_norm("1", shortcut);
    }
    return layers.relu(layers.ops().apply_one("add", {y, shortcut}));
}

TensorId build_residual(GraphBuilder& builder, const NetworkSpec& spec, TensorId images, NormMode mode) {
    const ResidualSettings settings = ResidualSettings::from(spec.settings);
    LayerBuilder layers(builder, mode);
    TensorId x = stem(layers, spec, images, settings.base_width);
    std::int64_t number = 0;
    for (std::size_t stage = 0; stage < settings.stages.size(); ++stage) {
        for (std::int64_t i = 0; i < settings.stages[stage]; ++i) {
            const GraphBuilder::Scope scope(builder, "blocks." + std::to_string(number++), true);
            x = basic_block(layers, x, settings.base_width << stage, stage > 0 && i == 0 ? 2 : 1);
        }
    }
    return layers.classifier(x, spec.classes);
}

} // namespace

NetworkDefinition residual_network() {
    return {"resnet", build_residual, [](const Json& settings) { return ResidualSettings::from(settings).to_json(); }};
}

} // namespace espalier
