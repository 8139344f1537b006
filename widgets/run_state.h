// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme.h"

#include <QString>

namespace espalier {

/// Where a run stands. `queued` until its turn comes, `preparing` until its first step; the last
/// four are ends.
enum class RunState { queued, preparing, running, paused, finished, stopped, failed, interrupted };

[[nodiscard]] QString state_title(RunState state); ///< "Running", "Stopped by a fault", ...
[[nodiscard]] Role state_role(RunState state);     ///< colour of its dot and word
[[nodiscard]] RunState
state_named(const QString& name);             ///< by its name in the protocol; `interrupted` for an unknown one
[[nodiscard]] bool is_active(RunState state); ///< a supervisor holds it: it can be stopped, not deleted

} // namespace espalier
