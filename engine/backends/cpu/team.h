// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <omp.h>

namespace espalier::cpu {

/// The next parallel regions of the calling thread get exactly so many threads, which must be no more than
/// omp_get_thread_limit(). The library's kernels are made for a number and wait for each other at barriers of their
/// own: a smaller team, as OMP_DYNAMIC and OMP_MAX_ACTIVE_LEVELS can make, would wait for ever.
inline void set_team(int threads) {
    omp_set_dynamic(0);
    if (omp_get_max_active_levels() < 1)
        omp_set_max_active_levels(1);
    omp_set_num_threads(threads);
}

} // namespace espalier::cpu
