// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"
#include "plan/persistent.h"
#include "plan/program.h"

namespace espalier {

/// Asks the backend for a kernel of every op, in order, and puts a reorder before an op that wants an input in another
/// layout than it has; later ops that want the same layout read the same copy. Parameters and buffers that are new to
/// the session are added to `persistent` in the layout that their first reader asks for (or their first writer, if none
/// read them before). Throws ConfigError naming op, layer and reason if the backend refuses an op.
[[nodiscard]] Program lower(const Graph& graph, Backend& backend, PersistentTensors& persistent);

} // namespace espalier
