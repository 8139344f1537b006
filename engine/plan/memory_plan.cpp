// SPDX-License-Identifier: Apache-2.0
#include "plan/memory_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace espalier {
namespace {

struct Placed {
    std::size_t begin;
    std::size_t end;
    std::int32_t first;
    std::int32_t last;
};

/// Start of the smallest gap of at least `bytes` between the blocks that are in use at the same time; above them all if
/// there is none. `placed` is sorted by its begin.
std::size_t best_gap(const std::vector<Placed>& placed, const Lifetime& lifetime, std::size_t bytes) {
    std::size_t best = 0;
    std::size_t best_size = std::numeric_limits<std::size_t>::max();
    std::size_t free_from = 0;
    for (const auto& block : placed) {
        if (block.last < lifetime.first || block.first > lifetime.last)
            continue;
        if (block.begin >= free_from + bytes && block.begin - free_from < best_size) {
            best = free_from;
            best_size = block.begin - free_from;
            if (best_size == bytes)
                break; // nothing fits better
        }
        free_from = std::max(free_from, block.end);
    }
    return best_size == std::numeric_limits<std::size_t>::max() ? free_from : best;
}

/// Places the lifetimes one after another in the given order.
MemoryPlan place(std::span<const Lifetime> lifetimes, std::span<const std::size_t> order) {
    MemoryPlan plan;
    plan.offsets.resize(lifetimes.size());
    std::vector<Placed> placed;
    placed.reserve(lifetimes.size());
    for (auto index : order) {
        const auto& lifetime = lifetimes[index];
        const auto bytes = align_up(lifetime.bytes);
        if (bytes == 0)
            continue;
        const auto begin = best_gap(placed, lifetime, bytes);
        const auto position = std::ranges::lower_bound(placed, begin, {}, &Placed::begin);
        placed.insert(position, {begin, begin + bytes, lifetime.first, lifetime.last});
        plan.offsets[index] = begin;
        plan.bytes = std::max(plan.bytes, begin + bytes);
    }
    return plan;
}

/// Indices of the lifetimes, those of the largest weight first.
template <class Weight>
std::vector<std::size_t> largest_first(std::span<const Lifetime> lifetimes, Weight weight) {
    std::vector<std::size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        const auto &x = lifetimes[a], &y = lifetimes[b];
        if (const auto wx = weight(x), wy = weight(y); wx != wy)
            return wx > wy;
        if (x.bytes != y.bytes)
            return x.bytes > y.bytes;
        return x.first != y.first ? x.first < y.first : a < b;
    });
    return order;
}

} // namespace

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes) {
    std::int32_t steps = 0;
    for (const auto& lifetime : lifetimes)
        steps = std::max(steps, lifetime.last + 1);
    const auto live = live_bytes(lifetimes, static_cast<std::size_t>(steps));
    const auto lower_bound = live.empty() ? 0 : std::ranges::max(live);
    const auto good_enough = lower_bound + lower_bound / 100;

    const auto size = [](const Lifetime& x) { return static_cast<double>(x.bytes); };
    const auto duration = [](const Lifetime& x) { return static_cast<double>(x.last - x.first + 1); };
    auto best = place(lifetimes, largest_first(lifetimes, size));
    const auto attempt = [&](const auto& weight) {
        if (best.bytes <= good_enough)
            return;
        if (auto plan = place(lifetimes, largest_first(lifetimes, weight)); plan.bytes < best.bytes)
            best = std::move(plan);
    };
    attempt([&](const Lifetime& x) { return size(x) * duration(x); });
    attempt(duration);
    return best;
}

std::vector<std::size_t> live_bytes(std::span<const Lifetime> lifetimes, std::size_t steps) {
    // Differences first, then their running sum; unsigned wrap-around cancels in the sum.
    std::vector<std::size_t> live(steps + 1);
    for (const auto& lifetime : lifetimes) {
        live[static_cast<std::size_t>(lifetime.first)] += align_up(lifetime.bytes);
        live[static_cast<std::size_t>(lifetime.last) + 1] -= align_up(lifetime.bytes);
    }
    live.pop_back();
    std::partial_sum(live.begin(), live.end(), live.begin());
    return live;
}

} // namespace espalier
