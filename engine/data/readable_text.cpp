// SPDX-License-Identifier: Apache-2.0
#include "data/readable_text.h"

#include "base/utf8.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <utility>

namespace espalier {
namespace {

/// What Windows-1252 has where Latin-1 has control characters: bytes 80 to 9f.
constexpr std::array<std::uint16_t, 32> windows_1252{0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                                     0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008d, 0x017d, 0x008f,
                                                     0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                                     0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178};

void append_utf8(std::string& text, std::uint16_t point) {
    const auto part = [&](int value) { text += static_cast<char>(value); };
    if (point < 0x80) {
        part(point);
    } else if (point < 0x800) {
        part(0xc0 | point >> 6);
        part(0x80 | (point & 0x3f));
    } else {
        part(0xe0 | point >> 12);
        part(0x80 | (point >> 6 & 0x3f));
        part(0x80 | (point & 0x3f));
    }
}

} // namespace

std::string readable_text(std::string_view bytes) {
    if (is_utf8(bytes))
        return std::string(bytes);
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        append_utf8(text, byte >= 0x80 && byte < 0xa0 ? windows_1252[byte - 0x80] : byte);
    }
    return text;
}

std::vector<std::string> read_class_names(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::vector<std::string> names;
    bool first = true;
    for (std::string line; std::getline(stream, line);) {
        if (std::exchange(first, false) && line.starts_with("\xef\xbb\xbf")) // the byte order mark of an editor
            line.erase(0, 3);
        if (line.ends_with('\r'))
            line.pop_back();
        if (!line.empty())
            names.push_back(readable_text(line));
    }
    return names;
}

} // namespace espalier
