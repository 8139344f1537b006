// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace espalier::commands {

/// Microseconds of one call: the median of five means over `iterations`, the device waited for once in each.
template <class Call>
double mean_microseconds(Backend& backend, int warm, int iterations, Call&& call) {
    using Clock = std::chrono::steady_clock;
    for (int i = 0; i < warm; ++i)
        call();
    backend.synchronize();
    std::vector<double> means;
    for (int round = 0; round < 5; ++round) {
        const auto begin = Clock::now();
        for (int i = 0; i < iterations; ++i)
            call();
        backend.synchronize();
        means.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / iterations);
    }
    std::sort(means.begin(), means.end());
    return means[means.size() / 2];
}

} // namespace espalier::commands
