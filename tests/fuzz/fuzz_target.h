// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

/// What libFuzzer and replay.cpp call. An exception that leaves it is a fault found.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace espalier::fuzz {

/// A property that every input must keep.
inline void require(bool holds, const char* property) {
    if (!holds)
        throw std::logic_error(property);
}

} // namespace espalier::fuzz
