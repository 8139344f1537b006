// SPDX-License-Identifier: Apache-2.0
#include "data/content_hash.h"

#include "data/hash_random.h"

#include <algorithm>
#include <cstdio>

namespace espalier {

void ContentHash::add(std::uint64_t number) { state_ = mix_bits(state_ ^ number); }

void ContentHash::add(std::span<const std::uint8_t> bytes) {
    add(std::uint64_t{bytes.size()});
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        std::uint64_t word = 0; // little-endian on every machine, so that the hash is the same everywhere
        for (std::size_t i = 0; i < std::min<std::size_t>(8, bytes.size() - at); ++i)
            word |= std::uint64_t{bytes[at + i]} << (8 * i);
        add(word);
    }
}

std::string ContentHash::text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(state_));
    return digits;
}

} // namespace espalier
