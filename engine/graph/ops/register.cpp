// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/families.h"

namespace espalier {
namespace {

OpRegistry all_ops() {
    OpRegistry registry;
    for (auto* family : {register_convolution, register_linear, register_normalization, register_activation,
                         register_pooling, register_elementwise, register_weighted_sum, register_cast, register_concat,
                         register_softmax, register_separable, register_data, register_loss, register_update})
        family(registry);
    return registry;
}

} // namespace

OpRegistry& OpRegistry::instance() {
    static OpRegistry registry = all_ops();
    return registry;
}

void register_all_ops() { OpRegistry::instance(); }

} // namespace espalier
