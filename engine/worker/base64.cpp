// SPDX-License-Identifier: Apache-2.0
#include "worker/protocol.h"

#include <array>

namespace espalier::protocol {
namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
    std::array<std::uint8_t, 256> values{};
    values.fill(no_digit);
    for (std::size_t i = 0; i < digits.size(); ++i)
        values[static_cast<unsigned char>(digits[i])] = static_cast<std::uint8_t>(i);
    return values;
}
constexpr auto values = make_values();

} // namespace

std::string to_base64(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4, '=');
    char* to = text.data();
    const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(bytes[i])}; };
    std::size_t i = 0;
    for (; i + 3 <= bytes.size(); i += 3) {
        const auto three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
        *to++ = digits[three >> 18];
        *to++ = digits[three >> 12 & 63];
        *to++ = digits[three >> 6 & 63];
        *to++ = digits[three & 63];
    }
    if (const auto left = bytes.size() - i; left > 0) {
        const auto rest = byte(i) << 16 | (left == 2 ? byte(i + 1) << 8 : 0);
        *to++ = digits[rest >> 18];
        *to++ = digits[rest >> 12 & 63];
        if (left == 2)
            *to = digits[rest >> 6 & 63];
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0)
        return std::nullopt;
    while (!text.empty() && text.back() == '=')
        text.remove_suffix(1);
    std::string bytes(text.size() * 3 / 4, '\0');
    char* to = bytes.data();
    const auto value = [&](std::size_t i) { return values[static_cast<unsigned char>(text[i])]; };
    std::uint8_t seen = 0; // has its highest bit set once something else than a digit came
    std::size_t i = 0;
    for (; i + 4 <= text.size(); i += 4) {
        const std::uint8_t a = value(i), b = value(i + 1), c = value(i + 2), d = value(i + 3);
        seen |= a | b | c | d;
        const auto four = std::uint32_t{a} << 18 | std::uint32_t{b} << 12 | std::uint32_t{c} << 6 | d;
        *to++ = static_cast<char>(four >> 16);
        *to++ = static_cast<char>(four >> 8);
        *to++ = static_cast<char>(four);
    }
    if (const auto left = text.size() - i; left == 1) {
        return std::nullopt;
    } else if (left > 1) {
        const std::uint8_t a = value(i), b = value(i + 1), c = left == 3 ? value(i + 2) : std::uint8_t{0};
        seen |= a | b | c;
        const auto rest = std::uint32_t{a} << 18 | std::uint32_t{b} << 12 | std::uint32_t{c} << 6;
        *to++ = static_cast<char>(rest >> 16);
        if (left == 3)
            *to = static_cast<char>(rest >> 8);
    }
    return seen & 0x80 ? std::nullopt : std::optional(std::move(bytes));
}

} // namespace espalier::protocol
