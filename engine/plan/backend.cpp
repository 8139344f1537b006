// SPDX-License-Identifier: Apache-2.0
#include "plan/backend.h"

#include <chrono>

namespace espalier {

std::vector<double> Backend::time(std::span<Kernel* const> kernels,
                                  const std::function<bool(std::size_t next)>& leave) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> milliseconds;
    synchronize();
    auto before = Clock::now();
    for (auto* kernel : kernels) {
        if (leave(milliseconds.size()))
            break;
        kernel->run();
        synchronize();
        const auto after = Clock::now();
        milliseconds.push_back(std::chrono::duration<double, std::milli>(after - before).count());
        before = after;
    }
    return milliseconds;
}

} // namespace espalier
