// SPDX-License-Identifier: Apache-2.0
#include "base/threads.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
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

/// The first number of an environment variable; nothing if there is none above 0.
std::optional<int> number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr)
        return std::nullopt;
    std::string_view words(text);
    words.remove_prefix(std::min(words.find_first_not_of(' '), words.size()));
    int number = 0;
    const auto error = std::from_chars(words.data(), words.data() + words.size(), number).ec;
    return error == std::errc() && number > 0 ? std::optional(number) : std::nullopt;
}

} // namespace

int usable_threads(int asked) {
    // The variables themselves, not OpenMP's view of them: that changes whenever a kernel sets the size of its team.
    if (asked <= 0)
        asked = number_in("OMP_NUM_THREADS").value_or(processors());
    return std::clamp(asked, 1, std::min(number_in("OMP_THREAD_LIMIT").value_or(most_threads), most_threads));
}

} // namespace espalier
