// SPDX-License-Identifier: Apache-2.0
#include "worker/peak_memory.h"

#ifndef _WIN32
#include <sys/resource.h>
#endif

namespace espalier {

std::size_t peak_resident_bytes() {
#ifdef _WIN32
    return 0;
#else
    rusage usage{};
    return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::size_t>(usage.ru_maxrss) * 1024 : 0; // KiB on Linux
#endif
}

} // namespace espalier
