// SPDX-License-Identifier: Apache-2.0
#include "worker/protocol.h"

#include <cstring>

namespace espalier::protocol {
namespace {

constexpr std::size_t noise_shown = 4096;
constexpr int max_depth = 64; // deeper nesting is nobody's message and would exhaust the stack when written again

bool too_deep(std::string_view text) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > max_depth)
                return true;
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    return false;
}

/// Length of the well-formed UTF-8 sequence at `i`, or 0 (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text, std::size_t i) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(i + k < text.size() ? text[i + k] : 0); };
    const auto follows = [&](std::size_t k) { return (byte(k) & 0xc0) == 0x80; };
    const unsigned char first = byte(0);
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return follows(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        if (!follows(1) || !follows(2))
            return 0;
        const bool overlong = first == 0xe0 && byte(1) < 0xa0;
        const bool surrogate = first == 0xed && byte(1) > 0x9f;
        return overlong || surrogate ? 0 : 3;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        if (!follows(1) || !follows(2) || !follows(3))
            return 0;
        const bool overlong = first == 0xf0 && byte(1) < 0x90;
        const bool beyond = first == 0xf4 && byte(1) > 0x8f;
        return overlong || beyond ? 0 : 4;
    }
    return 0;
}

std::string valid_utf8(std::string_view text) {
    std::string valid;
    valid.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        if (const auto length = sequence_length(text, i)) {
            valid.append(text.substr(i, length));
            i += length;
        } else {
            valid += "\xef\xbf\xbd";
            ++i;
        }
    }
    return valid;
}

} // namespace

std::optional<Json> parse_line(std::string_view text) {
    if (text.empty() || text.front() != '{' || text.back() != '}' || too_deep(text))
        return std::nullopt;
    auto json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) // the only damage that is mended: bytes that are not UTF-8, such as a file name
        json = Json::parse(valid_utf8(text), nullptr, false);
    if (!json.is_object())
        return std::nullopt;
    return json;
}

void LineReader::feed(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto* end = static_cast<const char*>(std::memchr(bytes.data(), '\n', bytes.size()));
        const auto piece = end ? bytes.substr(0, static_cast<std::size_t>(end - bytes.data())) : bytes;
        bytes.remove_prefix(end ? piece.size() + 1 : piece.size());

        if (!too_long_ && rest_.size() + piece.size() >= max_line) {
            too_long_ = true;
            rest_.append(piece.substr(0, noise_shown));
            noise(rest_);
            rest_ = {}; // gives its memory back
        }
        if (too_long_) {
            too_long_ = end == nullptr;
        } else if (!end) {
            rest_.append(piece);
        } else if (rest_.empty()) {
            line(piece);
        } else {
            rest_.append(piece);
            line(rest_);
            rest_.clear();
        }
    }
}

void LineReader::finish() {
    if (!rest_.empty())
        line(rest_);
    rest_.clear();
    too_long_ = false;
}

void LineReader::line(std::string_view text) {
    while (!text.empty() && (text.back() == '\r' || text.back() == ' '))
        text.remove_suffix(1);
    if (text.empty())
        return;
    if (auto message = parse_line(text))
        on_message_(std::move(*message));
    else
        noise(text);
}

void LineReader::noise(std::string_view text) {
    ++skipped_;
    if (on_noise_)
        on_noise_(valid_utf8(text.substr(0, noise_shown)));
}

} // namespace espalier::protocol
