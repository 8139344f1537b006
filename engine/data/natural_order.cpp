// SPDX-License-Identifier: Apache-2.0
#include "data/natural_order.h"

#include <algorithm>

namespace espalier {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes the digits at the front of `text` away and returns them without leading zeros.
std::string_view take_number(std::string_view& text) {
    const auto end = std::ranges::find_if_not(text, is_digit) - text.begin();
    auto digits = text.substr(0, static_cast<std::size_t>(end));
    text.remove_prefix(digits.size());
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

} // namespace

bool natural_less(std::string_view a, std::string_view b) {
    const auto whole_a = a, whole_b = b;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const auto left = take_number(a), right = take_number(b);
            if (left.size() != right.size())
                return left.size() < right.size();
            if (left != right)
                return left < right;
            continue;
        }
        if (a.front() != b.front())
            return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    if (a.empty() != b.empty())
        return a.empty();
    return whole_a < whole_b;
}

} // namespace espalier
