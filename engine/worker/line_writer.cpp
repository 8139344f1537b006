// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "worker/protocol.h"

#include <algorithm>
#include <cmath>

namespace espalier::protocol {
namespace {

constexpr std::size_t chunk = max_line / 2;
constexpr std::size_t long_text = 16 * 1024;

bool all_finite(const Json& json) {
    if (json.is_number_float())
        return std::isfinite(json.get<double>());
    return !json.is_structured() || std::all_of(json.begin(), json.end(), all_finite);
}

void name_non_finite(Json& json) {
    if (json.is_number_float())
        json = number(json.get<double>());
    else if (json.is_structured())
        std::for_each(json.begin(), json.end(), name_non_finite);
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// `message` with non-finite numbers named; copied only if there are any.
std::string finite_line(const Json& message) {
    if (all_finite(message))
        return dump(message) + '\n';
    Json copy = message;
    name_non_finite(copy);
    return dump(copy) + '\n';
}

/// End of a piece of text of at most `length` bytes that does not cut a UTF-8 sequence.
std::size_t piece_end(const std::string& text, std::size_t begin, std::size_t length) {
    std::size_t end = std::min(text.size(), begin + length);
    while (end > begin + 1 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;
    return end;
}

std::vector<std::string> split_answer(const Json& message) {
    const auto& id = message.at("id");
    std::vector<std::string> lines;
    const auto put = [&](const char* kind, Json body) {
        lines.push_back(finite_line({{"id", id}, {kind, std::move(body)}}));
        if (lines.back().size() >= max_line)
            throw Error("An answer holds a single value of " + std::to_string(lines.back().size()) +
                        " bytes, more than a line of the protocol may have (" + std::to_string(max_line) + ").");
    };
    Json rest = Json::object();
    for (const auto& [key, value] : message.at("answer").items()) {
        if (value.is_array()) {
            Json piece = Json::array();
            std::size_t bytes = 0;
            for (const auto& element : value) {
                const auto size = finite_line(element).size();
                if (bytes + size > chunk && !piece.empty()) {
                    put("part", {{key, std::move(piece)}});
                    piece = Json::array();
                    bytes = 0;
                }
                piece.push_back(element);
                bytes += size;
            }
            put("part", {{key, std::move(piece)}});
        } else if (value.is_string() && value.get_ref<const std::string&>().size() > long_text) {
            const auto& text = value.get_ref<const std::string&>();
            // A character takes up to six bytes when escaped.
            for (std::size_t begin = 0, end; begin < text.size(); begin = end) {
                end = piece_end(text, begin, chunk / 6);
                put("part", {{key, text.substr(begin, end - begin)}});
            }
        } else {
            rest[key] = value;
        }
    }
    put("answer", std::move(rest));
    return lines;
}

bool cut_long_texts(Json& json) {
    if (json.is_string()) {
        auto& text = json.get_ref<std::string&>();
        if (text.size() <= long_text)
            return false;
        text.resize(piece_end(text, 0, long_text));
        text += " ... (cut)";
        return true;
    }
    bool cut = false;
    if (json.is_structured())
        for (auto& element : json)
            cut = cut_long_texts(element) || cut;
    return cut;
}

/// Halves every array of per-step values; the second half begins at a later step.
std::pair<Json, Json> halve_steps(const Json& event, std::size_t count) {
    Json first = event, second = event;
    const auto middle = static_cast<std::ptrdiff_t>(count / 2);
    for (const auto& [key, value] : event.items()) {
        if (!value.is_array())
            continue;
        const auto here = std::min(middle, static_cast<std::ptrdiff_t>(value.size()));
        first[key] = Json(Json::array_t(value.begin(), value.begin() + here));
        second[key] = Json(Json::array_t(value.begin() + here, value.end()));
    }
    second["step"] = event.at("step").get<std::int64_t>() + middle;
    return {std::move(first), std::move(second)};
}

std::vector<std::string> split_event(const Json& event) {
    auto line = finite_line(event);
    if (line.size() < max_event)
        return {std::move(line)};

    std::string longest;
    std::size_t count = 0;
    for (const auto& [key, value] : event.items())
        if (value.is_array() && value.size() > count) {
            longest = key;
            count = value.size();
        }
    if (count < 2) {
        Json shorter = event;
        if (!cut_long_texts(shorter))
            throw Error("An event of type " + text_at(event, "type", "?") + " has " + std::to_string(line.size()) +
                        " bytes and nothing in it that can be split; a line may have " + std::to_string(max_event) +
                        ".");
        return split_event(shorter);
    }
    Json first, second;
    if (is_event(event, "steps")) {
        std::tie(first, second) = halve_steps(event, count);
    } else {
        const auto& array = event.at(longest);
        const auto middle = array.begin() + static_cast<std::ptrdiff_t>(count / 2);
        first = event;
        first[longest] = Json(Json::array_t(array.begin(), middle));
        second = {{"type", event.at("type")}, {"time", event.value("time", Json(0.0))}, {"continued", true}};
        second[longest] = Json(Json::array_t(middle, array.end()));
    }
    auto lines = split_event(first);
    for (auto& more : split_event(second))
        lines.push_back(std::move(more));
    return lines;
}

} // namespace

std::vector<std::string> to_lines(const Json& message) {
    auto line = finite_line(message);
    if (message.contains("type"))
        return line.size() < max_event ? std::vector{std::move(line)} : split_event(message);
    if (line.size() < max_line)
        return {std::move(line)};
    if (message.contains("id") && message.contains("answer") && message.at("answer").is_object())
        return split_answer(message);
    throw Error("A message of " + std::to_string(line.size()) + " bytes does not fit a line of the protocol (" +
                std::to_string(max_line) + ").");
}

void LineWriter::write(const Json& message) {
    const auto lines = to_lines(message);
    const std::lock_guard lock(mutex_);
    for (const auto& line : lines)
        sink_(line);
}

} // namespace espalier::protocol
