// SPDX-License-Identifier: Apache-2.0
#include "plan/profile.h"

#include <algorithm>
#include <unordered_map>

namespace espalier {

std::vector<LayerProfile> layer_profile(std::span<const PlannedOp> ops) {
    std::vector<LayerProfile> layers;
    std::unordered_map<std::string, std::size_t> index;
    for (const auto& op : ops) {
        const auto [found, is_new] = index.emplace(op.layer, layers.size());
        if (is_new)
            layers.push_back({op.layer});
        auto& layer = layers[found->second];
        ++layer.ops;
        switch (op.stage) {
        case Stage::forward:
            layer.forward_milliseconds += op.milliseconds;
            break;
        case Stage::backward:
            layer.backward_milliseconds += op.milliseconds;
            break;
        case Stage::update:
            layer.update_milliseconds += op.milliseconds;
            break;
        }
        layer.flops += op.flops;
        layer.bytes += op.bytes;
        layer.memory += op.memory;
        layer.workspace = std::max(layer.workspace, op.workspace);
    }
    return layers;
}

} // namespace espalier
