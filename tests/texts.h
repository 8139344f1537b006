// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"

#include <algorithm>
#include <string>
#include <vector>

/// What programs say, as tests look at it.
namespace espalier::test {

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline bool has(const std::vector<std::string>& texts, const std::string& part) {
    return std::ranges::any_of(texts, [&](const auto& text) { return has(text, part); });
}

/// The text of the exception of that type that `work` throws; empty if it throws none.
template <class Exception, class Work>
std::string message_of(const Work& work) {
    try {
        work();
    } catch (const Exception& error) {
        return error.what();
    }
    return {};
}

} // namespace espalier::test
