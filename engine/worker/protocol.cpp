// SPDX-License-Identifier: Apache-2.0
#include "worker/protocol.h"

#include "base/error.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

namespace espalier::protocol {
namespace {

std::optional<int> major_of(std::string_view text) {
    int major = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), major);
    const bool whole = end == text.data() + text.size() || *end == '.';
    return fault == std::errc() && whole ? std::optional(major) : std::nullopt;
}

constexpr std::pair<Reply::Kind, const char*> reply_kinds[] = {
    {Reply::Kind::progress, "progress"},
    {Reply::Kind::part, "part"},
    {Reply::Kind::answer, "answer"},
    {Reply::Kind::error, "error"},
};

} // namespace

void check_version(std::string_view other) {
    if (major_of(other) != major_of(version))
        throw ConfigError("This program speaks version " + std::string(version) +
                          " of the protocol, the other side version \"" + std::string(other) +
                          "\". Install the same release of Espalier on both sides.");
}

Json number(double value) {
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

double to_double(const Json& json) {
    if (json.is_number())
        return json.get<double>();
    if (json == "Infinity")
        return std::numeric_limits<double>::infinity();
    if (json == "-Infinity")
        return -std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
}

double number_at(const Json& object, std::string_view key, double otherwise) {
    const auto field = object.find(std::string(key));
    if (field == object.end())
        return otherwise;
    if (field->is_number() || *field == "NaN" || *field == "Infinity" || *field == "-Infinity")
        return to_double(*field);
    return otherwise;
}

std::string text_at(const Json& object, std::string_view key, std::string otherwise) {
    const auto field = object.find(std::string(key));
    return field != object.end() && field->is_string() ? field->get<std::string>() : otherwise;
}

std::optional<std::int64_t> to_whole(const Json& json) {
    constexpr double limit = 9223372036854775808.0; // 2^63
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
        return std::nullopt;
    if (json.is_number_integer())
        return json.get<std::int64_t>();
    if (!json.is_number_float())
        return std::nullopt;
    const double value = json.get<double>();
    return value >= -limit && value < limit && value == std::trunc(value)
               ? std::optional(static_cast<std::int64_t>(value))
               : std::nullopt;
}

std::int64_t whole_at(const Json& object, std::string_view key, std::int64_t otherwise) {
    const auto field = object.find(std::string(key));
    return field == object.end() ? otherwise : to_whole(*field).value_or(otherwise);
}

bool flag_at(const Json& object, std::string_view key, bool otherwise) {
    const auto field = object.find(std::string(key));
    return field != object.end() && field->is_boolean() ? field->get<bool>() : otherwise;
}

std::optional<Best> best_at(const Json& object) {
    const Best best{number_at(object, "best_accuracy", std::nan("")), whole_at(object, "best_epoch")};
    return best.epoch > 0 && std::isfinite(best.accuracy) ? std::optional(best) : std::nullopt;
}

Json to_message(const Request& request) {
    Json message = {{"id", request.id}, {"request", request.name}};
    if (request.arguments.is_object())
        message.update(request.arguments);
    return message;
}

std::optional<std::int64_t> id_of(const Json& message) {
    const auto id = message.find("id");
    return id != message.end() && id->is_number_integer() ? to_whole(*id) : std::nullopt;
}

Request to_request(const Json& message) {
    const auto id = id_of(message);
    const auto name = message.find("request");
    if (!id || name == message.end() || !name->is_string())
        throw ConfigError("A request needs an `id`, a whole number of at most 64 bits, and a text `request`; this "
                          "came: " +
                          message.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 200));
    Request request{*id, name->get<std::string>(), message};
    request.arguments.erase("id");
    request.arguments.erase("request");
    return request;
}

Json to_message(const Reply& reply) {
    for (const auto& [kind, key] : reply_kinds)
        if (kind == reply.kind)
            return {{"id", reply.id}, {key, reply.body}};
    return {};
}

Reply error_reply(std::int64_t id, const std::string& text, int code) {
    return {id, Reply::Kind::error, {{"text", text}, {"code", code}}};
}

std::optional<Reply> to_reply(const Json& message) {
    const auto id = id_of(message);
    if (!id)
        return std::nullopt;
    for (const auto& [kind, key] : reply_kinds)
        if (const auto body = message.find(key); body != message.end())
            return Reply{*id, kind, *body};
    return std::nullopt;
}

void join_part(Json& whole, const Json& part) {
    for (const auto& [key, value] : part.items()) {
        auto& mine = whole[key];
        if (mine.is_array() && value.is_array())
            mine.insert(mine.end(), value.begin(), value.end());
        else if (mine.is_string() && value.is_string())
            mine.get_ref<std::string&>() += value.get_ref<const std::string&>();
        else
            mine = value;
    }
}

Json make_event(std::string_view type) {
    using namespace std::chrono;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    return {{"type", type}, {"time", static_cast<double>(now) / 1000.0}};
}

bool is_event(const Json& message, std::string_view type) {
    const auto field = message.find("type");
    return field != message.end() && field->is_string() && field->get_ref<const std::string&>() == type;
}

std::int64_t last_step(const Json& steps_event) {
    const auto first = whole_at(steps_event, "step");
    const auto loss = steps_event.find("loss");
    const auto count = loss != steps_event.end() && loss->is_array() ? loss->size() : 0;
    return first + static_cast<std::int64_t>(count) - 1;
}

} // namespace espalier::protocol
