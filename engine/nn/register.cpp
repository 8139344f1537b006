// SPDX-License-Identifier: Apache-2.0
#include "graph/op_registry.h"
#include "nn/networks.h"

namespace espalier {

void register_all_networks() {
    static const bool once = [] {
        register_all_ops();
        for (const auto& definition :
             {quick_network(), residual_network(), supernet(), genotype_network(), growing_network()}) {
            NetworkRegistry::instance().add(definition);
        }
        return true;
    }();
    (void)once;
}

} // namespace espalier
