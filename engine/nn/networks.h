// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/network_spec.h"

namespace espalier {

// The engine's networks, one file each. register.cpp lists them.
[[nodiscard]] NetworkDefinition quick_network();
[[nodiscard]] NetworkDefinition residual_network();
[[nodiscard]] NetworkDefinition supernet();
[[nodiscard]] NetworkDefinition genotype_network();
[[nodiscard]] NetworkDefinition growing_network();

} // namespace espalier
