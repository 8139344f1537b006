// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::csv {

/// A number as text, the same in every locale: the shortest that reads back as the same double; NaN, Infinity,
/// -Infinity.
[[nodiscard]] std::string cell(double value);
[[nodiscard]] std::string cell(std::int64_t value);
/// Text, in quotes where RFC 4180 asks for them.
[[nodiscard]] std::string cell(std::string_view text);

/// One line with LF.
[[nodiscard]] std::string row(const std::vector<std::string>& cells);
/// The cells of one line (without its line end), quotes resolved.
[[nodiscard]] std::vector<std::string> cells_of(std::string_view line);

} // namespace espalier::csv
