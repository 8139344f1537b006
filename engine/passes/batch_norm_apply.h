// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace espalier {

/// The op that computes y of a batch_norm again from the statistics that it left: nothing else changes.
[[nodiscard]] Op batch_norm_apply_of(const Op& batch_norm);

} // namespace espalier
