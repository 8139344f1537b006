// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace espalier {

/// What an exception tells a user: one of the engine's as it stands, one of the standard library's about a file or
/// about memory in words.
[[nodiscard]] std::string words_of(const std::exception& error);

} // namespace espalier
