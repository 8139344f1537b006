// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu_backend.h"
#include "backends/plugin.h"
#include "backends/reference/reference_backend.h"
#include "backends/registry.h"

namespace espalier {

// One line a backend, so that a static library drops none of them.
void register_all_backends() {
    static const bool once = [] {
        auto& registry = BackendRegistry::instance();
        // Opened when it is asked for: whatever its libraries do then, the processor's runs have no part in it.
        registry.add(BackendRegistry::Entry("cuda", "NVIDIA GPU", plugin_preference,
                                            [] { return plugin_backend("cuda", "NVIDIA GPU"); }));
        registry.add(cpu_backend());
        registry.add(reference_backend());
        return true;
    }();
    static_cast<void>(once);
}

} // namespace espalier
