// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/registry.h"

namespace espalier {

/// NVIDIA GPUs, by cuDNN and kernels of our own.
[[nodiscard]] BackendDefinition cuda_backend();

} // namespace espalier
