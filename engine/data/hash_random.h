// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

namespace espalier {

/// The finalizer of SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t value) noexcept {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/// Random numbers that are a function of a key such as (seed, epoch, image), so that neither threads nor order change
/// them.
class HashRandom {
public:
    constexpr HashRandom(std::initializer_list<std::uint64_t> key) noexcept {
        for (auto part : key)
            state_ = mix_bits(state_ ^ part);
    }

    constexpr std::uint64_t next() noexcept { return mix_bits(state_ += 0x9e3779b97f4a7c15u); }
    /// Uniform in [0, bound). The bias is below bound / 2^32. Requires 0 < bound <= 2^32.
    constexpr std::uint64_t below(std::uint64_t bound) noexcept { return ((next() >> 32) * bound) >> 32; }
    /// Uniform in [0, 1).
    constexpr double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
    std::uint64_t state_ = 0;
};

} // namespace espalier
