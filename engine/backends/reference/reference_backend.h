// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/registry.h"

namespace espalier {

/// The backend "reference": every op as plain loops in double precision, one thread. It is what other backends are
/// compared with, and the last that is tried when others refuse. f32 tensors are stored as double, i32 and u8 as they
/// are.
[[nodiscard]] BackendDefinition reference_backend();

} // namespace espalier
