// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace espalier {

/// Whether `a` comes before `b` as people count: runs of digits by their number ("2" before "10"), all else byte by
/// byte. A strict order: texts that differ only in leading zeros are told apart by their bytes.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

/// The same for containers.
struct NaturalLess {
    bool operator()(std::string_view a, std::string_view b) const { return natural_less(a, b); }
};

} // namespace espalier
