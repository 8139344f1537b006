// SPDX-License-Identifier: Apache-2.0
#include "base/text_width.h"

#include "base/utf8.h"

#include <algorithm>
#include <utility>

namespace espalier {
namespace {

using Range = std::pair<char32_t, char32_t>;

/// Whole blocks: a sign more or less in one of them moves a column by one.
constexpr Range wide[] = {{0x1100, 0x115f}, {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
                          {0xac00, 0xd7a3}, {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                          {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr Range without_width[] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};

template <std::size_t N>
bool is_in(const Range (&ranges)[N], char32_t sign) {
    return std::ranges::any_of(ranges, [&](const Range& range) { return sign >= range.first && sign <= range.second; });
}

char32_t sign_of(std::string_view sequence) {
    const auto first = static_cast<unsigned char>(sequence[0]);
    if (sequence.size() == 1)
        return first;
    char32_t sign = first & (0x7f >> sequence.size());
    for (const char byte : sequence.substr(1))
        sign = sign << 6 | (static_cast<unsigned char>(byte) & 0x3f);
    return sign;
}

} // namespace

std::size_t text_width(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t i = 0; i < text.size();) {
        const auto length = std::max<std::size_t>(1, utf8_length(text, i));
        const auto sign = sign_of(text.substr(i, length));
        width += is_in(without_width, sign) ? 0 : is_in(wide, sign) ? 2 : 1;
        i += length;
    }
    return width;
}

std::string padded(std::string text, std::size_t width) {
    const auto taken = text_width(text);
    return text.append(taken < width ? width - taken : 0, ' ');
}

} // namespace espalier
