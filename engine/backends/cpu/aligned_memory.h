// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

#include <memory>

namespace espalier::cpu {

/// Memory aligned to 64 bytes; large pieces stand at multiples of 2 MiB and ask for huge pages, which saves most of the
/// page faults of a first step. Throws OutOfMemory.
[[nodiscard]] std::unique_ptr<Memory> allocate_aligned(std::size_t bytes);

} // namespace espalier::cpu
