// SPDX-License-Identifier: Apache-2.0
#include "nn/fixture_spec.h"

namespace espalier {

NetworkSpec fixture_spec(const Json& attributes, const Shape& input, std::int64_t classes) {
    Json spec = {{"network", attributes.at("network")},
                 {"channels", input[1]},
                 {"height", input[2]},
                 {"width", input[3]},
                 {"classes", classes}};
    for (const char* key :
         {"init_channels", "layers", "nodes", "stem_multiplier", "ops", "normal", "reduce", "stem", "blocks"}) {
        if (attributes.contains(key)) {
            spec[key] = attributes[key];
        }
    }
    if (attributes.at("network") == "resnet18") {
        spec["network"] = "resnet";
        spec["base_width"] = attributes.at("width");
        spec["stages"] = {2, 2, 2, 2};
    }
    if (attributes.contains("widths")) {
        for (std::size_t i = 0; i < attributes["widths"].size(); ++i) {
            spec["blocks"].push_back({{"width", attributes["widths"][i]}, {"stride", attributes["strides"][i]}});
        }
    }
    return NetworkSpec::from_json(spec);
}

} // namespace espalier
