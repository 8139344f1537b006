// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace espalier::cuda {

/// a / b, rounded up; both above 0.
constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

} // namespace espalier::cuda
