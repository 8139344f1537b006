// SPDX-License-Identifier: Apache-2.0
#include "base/threads.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <thread>
#ifdef __linux__
#include <sched.h>
#endif

namespace espalier {
namespace {

constexpr int most_threads = 1024; // as a run's configuration may ask for

int processors() {
#ifdef __linux__
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    return static_cast<int>(std::thread::hardware_concurrency());
}

} // namespace

int usable_threads() {
    // The variable itself, not OpenMP's view of it: that changes whenever a kernel sets the size of its team.
    if (const char* text = std::getenv("OMP_NUM_THREADS")) {
        std::string_view words(text);
        words.remove_prefix(std::min(words.find_first_not_of(' '), words.size()));
        int asked = 0;
        if (std::from_chars(words.data(), words.data() + words.size(), asked).ec == std::errc() && asked > 0)
            return std::min(asked, most_threads);
    }
    return std::clamp(processors(), 1, most_threads);
}

} // namespace espalier
