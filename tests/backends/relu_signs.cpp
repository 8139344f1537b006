// SPDX-License-Identifier: Apache-2.0
#include "backends/relu_signs.h"

#include <algorithm>
#include <memory>

namespace espalier::testing {

bool is_relu(const Op& op) { return op.kind == "relu"; }

ObservedBackend::Observer record_relus(ReluInputs& inputs) {
    return [&inputs](Observation& seen) {
        inputs.relus.push_back({seen.op.layer, seen.inputs[0]});
        return false;
    };
}

ObservedBackend::Observer force_relus(const ReluInputs& decided) {
    return [&decided, next = std::make_shared<std::size_t>(0)](Observation& seen) {
        const auto& x = decided.relus.at((*next)++).x;
        auto& y = seen.outputs[0];
        for (std::size_t i = 0; i < x.size(); ++i)
            if ((x[i] > 0) != (y[i] > 0))
                y[i] = std::max(x[i], 0.0f);
        return true;
    };
}

std::vector<SignChange> sign_changes(const ReluInputs& expected, const ReluInputs& found) {
    std::vector<SignChange> changes;
    for (std::size_t r = 0; r < expected.relus.size(); ++r) {
        const auto& [layer, a] = expected.relus[r];
        const auto& b = found.relus.at(r).x;
        for (std::size_t i = 0; i < a.size(); ++i)
            if ((a[i] > 0) != (b.at(i) > 0))
                changes.push_back({r, layer, i, a[i], b[i]});
    }
    return changes;
}

} // namespace espalier::testing
