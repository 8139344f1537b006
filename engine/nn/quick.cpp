// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.h"
#include "nn/layer_builder.h"
#include "nn/networks.h"

namespace espalier {

namespace {

/// The demo's network: blocks of conv3x3-BN-ReLU, each but the last followed by a 2x2 max pool (3x3 window, stride 2).
struct QuickSettings {
    std::vector<std::int64_t> widths{16, 32, 64, 128};

    static QuickSettings from(const Json& json) {
        QuickSettings settings;
        JsonFields fields(json, "network");
        fields.read("widths", settings.widths, 1, 4096);
        fields.finish();
        check_list_size("network.widths", settings.widths.size(), 1, 8);
        return settings;
    }
    [[nodiscard]] Json to_json() const { return {{"widths", widths}}; }
};

TensorId build_quick(GraphBuilder& builder, const NetworkSpec& spec, TensorId images, NormMode mode) {
    const QuickSettings settings = QuickSettings::from(spec.settings);
    LayerBuilder layers(builder, mode);
    TensorId x = images;
    for (std::size_t i = 0; i < settings.widths.size(); ++i) {
        const GraphBuilder::Scope block(builder, "blocks." + std::to_string(i), true);
        x = layers.convolution("conv", x, settings.widths[i], ConvolutionSettings::square(3));
        x = layers.relu(layers.batch_norm("bn", x));
        if (i + 1 < settings.widths.size()) {
            x = layers.max_pool(x, 3, 2, 1);
        }
    }
    return layers.classifier(x, spec.classes);
}

} // namespace

NetworkDefinition quick_network() {
    return {"quick", build_quick, [](const Json& settings) { return QuickSettings::from(settings).to_json(); }};
}

} // namespace espalier
