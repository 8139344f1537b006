// SPDX-License-Identifier: Apache-2.0
#include "nn/growing_network.h"

#include "base/error.h"
#include "base/json_fields.h"
#include "nn/layer_builder.h"
#include "nn/networks.h"

namespace espalier {

namespace {

constexpr std::int64_t largest_width = 16384;

GrowingSettings::Block block_from(const Json& json, const std::string& path, std::int64_t inputs) {
    GrowingSettings::Block block;
    JsonFields fields(json, path);
    fields.read("width", block.width, 1, largest_width);
    fields.read("stride", block.stride, 1, 8);
    fields.read("residual", block.residual);
    if (const Json* branches = fields.list("branches")) {
        for (std::size_t i = 0; i < branches->size(); ++i) {
            std::int64_t width = block.width;
            JsonFields branch((*branches)[i], path + ".branches." + std::to_string(i));
            branch.read("width", width, 1, largest_width);
            branch.finish();
            block.branches.push_back(width);
        }
    }
    fields.finish();
    if (block.residual && (block.stride != 1 || block.width != inputs)) {
        throw ConfigError("'" + path + "' is residual, so its stride must be 1 and its width that of its input, " +
                          std::to_string(inputs) + "; they are " + std::to_string(block.stride) + " and " +
                          std::to_string(block.width) + ".");
    }
    return block;
}

/// c P(ReLU(BN(conv5x5(x)))): forks at its block's input and joins after the block's ReLU. The projection P is there
/// only where the branch's width differs from its block's.
TensorId branch(LayerBuilder& layers, TensorId x, std::int64_t width, const GrowingSettings::Block& block) {
    TensorId y = layers.convolution("conv", x, width, ConvolutionSettings::square(5, block.stride));
    y = layers.relu(layers.batch_norm("bn", y));
    if (width != block.width) {
        y = layers.identity_projection("projection", y, block.width);
    }
    return layers.trained_scale("scale", y);
}

TensorId grown_block(LayerBuilder& layers, TensorId x, const GrowingSettings::Block& block) {
    TensorId y = layers.convolution("conv", x, block.width, ConvolutionSettings::square(3, block.stride));
    y = layers.relu(layers.batch_norm("bn", y));
    std::vector<TensorId> terms;
    if (block.residual) {
        terms = {x, layers.trained_scale("scale", y)};
    } else {
        terms = {y};
    }
    for (std::size_t i = 0; i < block.branches.size(); ++i) {
        const GraphBuilder::Scope scope(layers.ops(), "branches." + std::to_string(i));
        terms.push_back(branch(layers, x, block.branches[i], block));
    }
    return terms.size() == 1 ? terms.front() : layers.ops().apply_one("add", terms);
}

TensorId build_growing(GraphBuilder& builder, const NetworkSpec& spec, TensorId images, NormMode mode) {
    const GrowingSettings settings = GrowingSettings::from_json(spec.settings);
    LayerBuilder layers(builder, mode);
    TensorId x = images;
    {
        const GraphBuilder::Scope scope(builder, "stem", true);
        x = layers.convolution("0", x, settings.stem, ConvolutionSettings::square(3));
        x = layers.relu(layers.batch_norm("1", x));
    }
    for (std::size_t i = 0; i < settings.blocks.size(); ++i) {
        const GraphBuilder::Scope scope(builder, "blocks." + std::to_string(i), true);
        x = grown_block(layers, x, settings.blocks[i]);
    }
    return layers.classifier(x, spec.classes);
}

} // namespace

GrowingSettings GrowingSettings::from_json(const Json& json) {
    GrowingSettings settings;
    JsonFields fields(json, "network");
    fields.read("stem", settings.stem, 1, largest_width);
    if (const Json* blocks = fields.list("blocks")) {
        settings.blocks.clear();
        std::int64_t inputs = settings.stem;
        for (std::size_t i = 0; i < blocks->size(); ++i) {
            settings.blocks.push_back(block_from((*blocks)[i], "network.blocks." + std::to_string(i), inputs));
            inputs = settings.blocks.back().width;
        }
    }
    fields.finish();
    check_list_size("network.blocks", settings.blocks.size(), 1, 1000);
    return settings;
}

Json GrowingSettings::to_json() const {
    Json list = Json::array();
    for (const Block& block : blocks) {
        Json json = {{"width", block.width}, {"stride", block.stride}};
        if (block.residual) {
            json["residual"] = true;
        }
        for (const std::int64_t width : block.branches) {
            json["branches"].push_back({{"width", width}});
        }
        list.push_back(std::move(json));
    }
    return {{"stem", stem}, {"blocks", std::move(list)}};
}

NetworkDefinition growing_network() {
    return {"growing", build_growing,
            [](const Json& settings) { return GrowingSettings::from_json(settings).to_json(); }};
}

} // namespace espalier
