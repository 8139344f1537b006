// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier {

/// How many threads this process may compute with, at least 1: the first number of OMP_NUM_THREADS if it is set and
/// valid, else the processors that the process may run on (taskset and the like are heeded).
[[nodiscard]] int usable_threads();

} // namespace espalier
