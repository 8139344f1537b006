// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/timing_contest.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace espalier::cuda {
namespace {

constexpr std::size_t turns = 5;
constexpr std::size_t most_finalists = 6; ///< besides entrant 0
constexpr double still_fast = 1.3;        ///< of the best time: a clock may have been as much lower

double median(std::array<double, turns> times) {
    std::ranges::sort(times);
    return times[turns / 2];
}

} // namespace

std::vector<std::size_t> fastest_first(std::size_t count, const TimeOf& time) {
    constexpr double never = std::numeric_limits<double>::infinity();
    if (count == 0 || !time(0, never))
        return {};
    std::vector<std::pair<double, std::size_t>> times; // of the others
    double best = never;
    for (std::size_t i = 0; i < count; ++i)
        if (const auto taken = time(i, best)) {
            best = std::min(best, *taken);
            if (i > 0)
                times.emplace_back(*taken, i);
        }
    std::ranges::sort(times);
    std::erase_if(times, [&](const auto& entry) { return entry.first > still_fast * best; });
    times.resize(std::min(times.size(), most_finalists));

    std::vector<std::pair<double, std::size_t>> finalists{{never, 0}};
    finalists.insert(finalists.end(), times.begin(), times.end());
    std::vector<std::array<double, turns>> taken(finalists.size());
    for (std::size_t turn = 0; turn < turns; ++turn)
        for (std::size_t i = 0; i < finalists.size(); ++i)
            taken[i][turn] = time(finalists[i].second, best).value_or(never);
    for (std::size_t i = 0; i < finalists.size(); ++i)
        finalists[i].first = median(taken[i]);
    std::ranges::sort(finalists);
    std::vector<std::size_t> order;
    for (const auto& [milliseconds, entrant] : finalists)
        if (milliseconds < never)
            order.push_back(entrant);
    return order;
}

} // namespace espalier::cuda
