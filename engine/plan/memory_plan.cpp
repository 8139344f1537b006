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
        }
        free_from = std::max(free_from, block.end);
    }
    return best_size == std::numeric_limits<std::size_t>::max() ? free_from : best;
}

} // namespace

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes) {
    std::vector<std::size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        const auto& x = lifetimes[a];
        const auto& y = lifetimes[b];
        if (x.bytes != y.bytes)
            return x.bytes > y.bytes;
        return x.first != y.first ? x.first < y.first : a < b;
    });

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
