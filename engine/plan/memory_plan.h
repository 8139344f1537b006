// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier {

/// Every tensor and workspace begins at a multiple of this.
inline constexpr std::size_t memory_alignment = 64;

[[nodiscard]] constexpr std::size_t align_up(std::size_t bytes) {
    return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment;
}

/// Memory that is in use from step `first` to step `last`, both included.
struct Lifetime {
    std::size_t bytes = 0;
    std::int32_t first = 0;
    std::int32_t last = 0;
};

struct MemoryPlan {
    std::vector<std::size_t> offsets; ///< one a lifetime, multiples of memory_alignment
    std::size_t bytes = 0;            ///< size of the arena
};

/// Offsets in one arena such that lifetimes that overlap in time do not overlap in memory. Finding the smallest arena
/// is NP-hard; this is the greedy rule of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
/// Inference" (2020): the largest first, each into the smallest gap that holds it. Where that ends more than 1 % above
/// the lower bound, the largest by size times duration and the longest are tried first too, and the smallest arena is
/// taken.
[[nodiscard]] MemoryPlan plan_memory(std::span<const Lifetime> lifetimes);

/// Bytes in use at each step 0 ... steps-1. Their maximum is a lower bound of any arena.
[[nodiscard]] std::vector<std::size_t> live_bytes(std::span<const Lifetime> lifetimes, std::size_t steps);

} // namespace espalier
