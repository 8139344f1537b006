// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string>

namespace espalier {

/// "epoch" of one and "epochs" of any other number; `many` where it is no plain s.
[[nodiscard]] inline std::string plural(std::integral auto count, const std::string& one,
                                        const std::string& many = {}) {
    return count == 1 ? one : many.empty() ? one + "s" : many;
}

/// "1 epoch", "3 epochs", for every text of the engine that counts something.
[[nodiscard]] inline std::string counted(std::integral auto count, const std::string& one,
                                         const std::string& many = {}) {
    return std::to_string(count) + " " + plural(count, one, many);
}

} // namespace espalier
