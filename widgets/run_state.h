// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme.h"

#include <QString>

namespace espalier {

/// Where a run stands. `preparing` until its first step; the last four are ends.
enum class RunState { preparing, running, paused, finished, stopped, failed, interrupted };

[[nodiscard]] QString state_title(RunState state); ///< "Running", "Stopped by a fault", ...
[[nodiscard]] Role state_role(RunState state);     ///< colour of its dot and word
[[nodiscard]] RunState
state_named(const QString& name);             ///< by its name in the protocol; `interrupted` for an unknown one
[[nodiscard]] bool is_active(RunState state); ///< a worker holds it: it can be paused, resumed, stopped

} // namespace espalier
