// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier {

/// How many threads this process may compute with, at least 1: as many as are `asked` for; 0: the first number of
/// OMP_NUM_THREADS if it is set and valid, else the processors that the process may run on (taskset and the like are
/// heeded). In any case no more than OMP_THREAD_LIMIT.
[[nodiscard]] int usable_threads(int asked = 0);

} // namespace espalier
