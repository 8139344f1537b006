// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/timing_contest.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

namespace espalier::cuda {
namespace {

constexpr std::size_t turns = 5;
constexpr std::size_t most_finalists = 10; ///< besides entrant 0
constexpr double still_fast = 1.3;         ///< of the best time: a clock may have been as much lower
constexpr std::size_t first_leaders = 3;   ///< whose neighbours are looked at first; later those of the best alone
constexpr int most_climbs = 4;

double median(std::array<double, turns> times) {
    std::ranges::sort(times);
    return times[turns / 2];
}

/// Of these entrants; the first of them stays in whatever its time, if it can be run.
std::vector<std::size_t> contest(const std::vector<std::size_t>& entrants, const TimeOf& time) {
    constexpr double never = std::numeric_limits<double>::infinity();
    if (entrants.empty())
        return {};
    const bool first_runs = time(entrants.front(), never).has_value();
    std::vector<std::pair<double, std::size_t>> times; // of the others
    double best = never;
    for (const auto entrant : entrants)
        if (const auto taken = time(entrant, best)) {
            best = std::min(best, *taken);
            if (entrant != entrants.front())
                times.emplace_back(*taken, entrant);
        }
    std::ranges::sort(times);
    std::erase_if(times, [&](const auto& entry) { return entry.first > still_fast * best; });
    times.resize(std::min(times.size(), most_finalists));

    std::vector<std::pair<double, std::size_t>> finalists;
    if (first_runs)
        finalists.emplace_back(never, entrants.front());
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

} // namespace

std::vector<std::size_t> fastest_first(std::size_t count, const TimeOf& time) {
    std::vector<std::size_t> entrants(count);
    std::iota(entrants.begin(), entrants.end(), std::size_t{0});
    return contest(entrants, time);
}

std::vector<std::size_t> fastest_nearby(std::size_t count, const TimeOf& time, const NeighboursOf& neighbours) {
    auto order = fastest_first(count, time);
    auto leaders = first_leaders;
    for (int climb = 0; climb < most_climbs && !order.empty(); ++climb) {
        std::vector<std::size_t> entrants{order.front()};
        for (std::size_t i = 0; i < std::min(leaders, order.size()); ++i) {
            const auto near = neighbours(order[i]);
            entrants.insert(entrants.end(), near.begin(), near.end());
        }
        auto faster = contest(entrants, time);
        faster.erase(std::ranges::find(faster, order.front()), faster.end());
        if (faster.empty())
            break;
        order.insert(order.begin(), faster.begin(), faster.end());
        leaders = 1;
    }
    return order;
}

std::vector<std::int64_t> values_to_try(std::int64_t least, std::int64_t greatest) {
    constexpr std::int64_t most = 64;
    std::vector<std::int64_t> values;
    for (auto value = least; value <= std::min(most, greatest); value = least > 0 ? 2 * value : value + 1)
        values.push_back(value);
    return values;
}

} // namespace espalier::cuda
