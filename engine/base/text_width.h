// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

/// How many columns of a terminal UTF-8 text takes: two a sign that is wide (Unicode 15, UAX 11: Chinese, Japanese,
/// Korean, emoji), none one that stands on the sign before it, one each other; of bytes that are no UTF-8 one each.
[[nodiscard]] std::size_t text_width(std::string_view text);

/// The text with spaces behind it, so that it takes `width` columns, or as many as it needs.
[[nodiscard]] std::string padded(std::string text, std::size_t width);

} // namespace espalier
