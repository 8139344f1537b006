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

/// What each step comes after when steps run in turns of so many: whatever of its own turn it waits for by itself, and
/// all of the turn before. The steps of a turn may still run side by side.
[[nodiscard]] std::vector<std::vector<std::int32_t>> in_turns(std::span<const std::vector<std::int32_t>> after,
                                                              std::size_t steps_of_turn);

} // namespace espalier
