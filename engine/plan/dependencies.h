// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/program.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier {

/// Bytes that a step reads or writes.
struct Access {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
};

/// Everything that a step touches.
struct StepAccess {
    std::vector<Access> reads;
    std::vector<Access> writes; ///< outputs and workspace
};

/// For each step the earlier steps that it must come after: those that write what it reads or writes, and those that
/// read what it writes. Found from addresses alone, so memory that the arena uses again, in-place results and
/// parameters that are updated all count. Ascending, without duplicates; a step that others imply may be left out.
[[nodiscard]] std::vector<std::vector<std::int32_t>> find_dependencies(std::span<const StepAccess> steps);

} // namespace espalier
