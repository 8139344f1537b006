// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "io/run_folder.h"

namespace espalier {

/// What differs between two JSON objects: [{"key": "optimizer.learning_rate", "a": 0.1, "b": 0.05}], by dotted path; a
/// side that lacks the key has no such field. Of two lists of texts the entry has what only one of them holds.
[[nodiscard]] Json differences(const Json& a, const Json& b);

/// Two runs side by side:
///   {"a": path, "b": path, "config": differences, "passport": differences (without times, which always differ),
///    "bit_exact": {"expected": whether both should give the same bits, "reason"},
///    "metrics": {"rows": equal rows of both metrics.csv from the beginning, "first_difference": step, null if none}}
/// Rows are compared without the time that they took. Throws ConfigError if one is no run.
[[nodiscard]] Json compare_runs(const RunFolder& a, const RunFolder& b);

} // namespace espalier
