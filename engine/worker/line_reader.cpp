// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"
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

std::string valid_utf8(std::string_view text) {
    std::string valid;
    valid.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        if (const auto length = utf8_length(text, i)) {
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
