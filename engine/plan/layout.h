// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace espalier {

/// How a backend stores one tensor: plain row-major, channels last, blocked by 16 channels ... Only the backend knows
/// what `detail` is; the plan compares keys and counts bytes.
struct Layout {
    std::string key;       ///< equal keys: the same bytes mean the same tensor
    std::size_t bytes = 0; ///< including padding
    std::shared_ptr<const void> detail;

    [[nodiscard]] bool defined() const { return !key.empty(); }
    friend bool operator==(const Layout& a, const Layout& b) { return a.key == b.key; }
};

} // namespace espalier
