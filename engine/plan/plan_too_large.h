// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "plan/session.h"

#include <string>
#include <utility>

namespace espalier {

/// A step that needs more memory than its session may take. Says how much it needs and where; what helps depends on
/// what was tried.
class PlanTooLarge : public OutOfMemory {
public:
    PlanTooLarge(const std::string& text, const MemoryUse& memory, PlannedOp busiest)
        : OutOfMemory(text), memory_(memory), busiest_(std::move(busiest)) {}

    /// What it would take.
    [[nodiscard]] const MemoryUse& memory() const { return memory_; }
    /// The op at which most is in use.
    [[nodiscard]] const PlannedOp& busiest() const { return busiest_; }

private:
    MemoryUse memory_;
    PlannedOp busiest_;
};

} // namespace espalier
