// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/registry.h"

#include <algorithm>
#include <string>

namespace espalier::test {

/// Empty where there is a GPU to test.
inline std::string why_no_gpu() {
    const auto backends = available_backends();
    return std::ranges::find(backends, "cuda", &BackendStatus::name)->available.reason;
}

} // namespace espalier::test
