// SPDX-License-Identifier: Apache-2.0
#include "backends/plugin.h"

#include "backends/cuda/cuda_backend.h"

extern "C" __attribute__((visibility("default"))) const espalier::BackendPlugin* espalier_backend_plugin() {
    static const espalier::BackendPlugin plugin{.definition = &espalier::cuda_backend};
    return &plugin;
}
