// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace espalier {

/// Largest resident size of this process so far, in bytes; 0 where the system does not tell.
[[nodiscard]] std::size_t peak_resident_bytes();

} // namespace espalier
