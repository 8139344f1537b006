// SPDX-License-Identifier: Apache-2.0
#include "nn/cell.h"

#include "base/error.h"

#include <algorithm>

namespace espalier {

namespace {

/// Depthwise and pointwise convolution, batch norm; `first` is the place of the depthwise one in the sequence.
TensorId separable(LayerBuilder& layers, int first, TensorId x, std::int64_t kernel, std::int64_t stride,
                   std::int64_t dilation, bool affine) {
    const std::int64_t channels = layers.channels_of(x);
    const ConvolutionSettings window = ConvolutionSettings::square(kernel, stride, dilation).with_groups(channels);
    x = layers.convolution(std::to_string(first), layers.relu(x), channels, window);
    x = layers.convolution(std::to_string(first + 1), x, channels, ConvolutionSettings::square(1));
    return layers.batch_norm(std::to_string(first + 2), x, affine);
}

TensorId sep_conv(LayerBuilder& layers, TensorId x, std::int64_t kernel, std::int64_t stride, bool affine) {
    x = separable(layers, 1, x, kernel, stride, 1, affine);
    return separable(layers, 5, x, kernel, 1, 1, affine);
}

TensorId conv_7x1_1x7(LayerBuilder& layers, TensorId x, std::int64_t stride, bool affine) {
    const std::int64_t channels = layers.channels_of(x);
    x = layers.convolution("1", layers.relu(x), channels, {{1, 7}, {1, stride}, {0, 3}});
    x = layers.convolution("2", x, channels, {{7, 1}, {stride, 1}, {3, 0}});
    return layers.batch_norm("3", x, affine);
}

TensorId relu_conv_bn(LayerBuilder& layers, TensorId x, std::int64_t channels, bool affine) {
    x = layers.convolution("1", layers.relu(x), channels, ConvolutionSettings::square(1));
    return layers.batch_norm("2", x, affine);
}

} // namespace

const std::vector<std::string>& all_candidates() {
    static const std::vector<std::string> names{"none",         "avg_pool_3x3", "max_pool_3x3", "skip_connect",
                                                "sep_conv_3x3", "sep_conv_5x5", "sep_conv_7x7", "dil_conv_3x3",
                                                "dil_conv_5x5", "conv_7x1_1x7"};
    return names;
}

void check_candidate(const std::string& path, const std::string& name) {
    if (std::ranges::find(all_candidates(), name) == all_candidates().end()) {
        std::string known;
        for (const std::string& candidate_name : all_candidates()) {
            known += (known.empty() ? "" : ", ") + candidate_name;
        }
        throw ConfigError("'" + path + "': there is no operation \"" + name + "\". Known are: " + known + ".");
    }
}

TensorId candidate(LayerBuilder& layers, const std::string& name, TensorId x, std::int64_t stride, bool affine,
                   bool pool_norm) {
    if (name == "avg_pool_3x3" || name == "max_pool_3x3") {
        x = name == "avg_pool_3x3" ? layers.average_pool(x, 3, stride, 1) : layers.max_pool(x, 3, stride, 1);
        return pool_norm ? layers.batch_norm("1", x, affine) : x;
    }
    if (name == "skip_connect") {
        return stride == 1 ? x : factorized_reduce(layers, x, layers.channels_of(x), affine);
    }
    if (name == "conv_7x1_1x7") {
        return conv_7x1_1x7(layers, x, stride, affine);
    }
    const std::int64_t kernel = name.back() - '0';
    if (name.starts_with("sep_conv_")) {
        return sep_conv(layers, x, kernel, stride, affine);
    }
    if (name.starts_with("dil_conv_")) {
        return separable(layers, 1, x, kernel, stride, 2, affine);
    }
    throw ConfigError("The operation \"" + name + "\" cannot be built.");
}

TensorId factorized_reduce(LayerBuilder& layers, TensorId x, std::int64_t channels, bool affine) {
    const TensorId positive = layers.relu(x);
    const TensorId shifted = layers.ops().apply_one(
        "shifted_slice", {positive},
        {{"offset", std::vector<std::int64_t>{1, 1}}, {"stride", std::vector<std::int64_t>{2, 2}}});
    const TensorId a = layers.convolution("conv_a", positive, channels / 2, ConvolutionSettings::square(1, 2));
    const TensorId b = layers.convolution("conv_b", shifted, channels - channels / 2, ConvolutionSettings::square(1));
    return layers.batch_norm("bn", layers.ops().apply_one("concat", {a, b}, {{"axis", std::int64_t{1}}}), affine);
}

TensorId build_cell_network(LayerBuilder& layers, const NetworkSpec& spec, const CellNetworkSettings& settings,
                            bool affine, TensorId images, const CellBody& body) {
    TensorId before = no_tensor;
    {
        const GraphBuilder::Scope scope(layers.ops(), "stem", true);
        before = layers.convolution("0", images, settings.stem_multiplier * settings.init_channels,
                                    ConvolutionSettings::square(3));
        before = layers.batch_norm("1", before); // no ReLU: every reader begins with one
    }
    TensorId before_that = before;
    std::int64_t channels = settings.init_channels;
    bool after_reduction = false;
    for (std::int64_t i = 0; i < settings.layers; ++i) {
        const GraphBuilder::Scope scope(layers.ops(), "cells." + std::to_string(i), true);
        const bool reduction = i == settings.layers / 3 || i == 2 * settings.layers / 3;
        channels *= reduction ? 2 : 1;
        CellPlace place{static_cast<std::size_t>(i), reduction, channels, {}};
        {
            const GraphBuilder::Scope pre(layers.ops(), "pre0");
            place.states[0] = after_reduction ? factorized_reduce(layers, before_that, channels, affine)
                                              : relu_conv_bn(layers, before_that, channels, affine);
        }
        {
            const GraphBuilder::Scope pre(layers.ops(), "pre1");
            place.states[1] = relu_conv_bn(layers, before, channels, affine);
        }
        const std::vector<TensorId> nodes = body(layers, place);
        before_that = before;
        before =
            nodes.size() == 1 ? nodes.front() : layers.ops().apply_one("concat", nodes, {{"axis", std::int64_t{1}}});
        after_reduction = reduction;
    }
    return layers.classifier(before, spec.classes);
}

} // namespace espalier
