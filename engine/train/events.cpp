// SPDX-License-Identifier: Apache-2.0
#include "train/events.h"

#include "base/error.h"

#include <cmath>
#include <limits>

namespace espalier {

Json make_event(std::string_view type) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return {{"type", type}, {"time", std::chrono::duration<double>(now).count()}};
}

void warn(EventSink& events, const std::string& text) {
    Json event = make_event("warning");
    event["text"] = text;
    event["code"] = 0;
    events.send(std::move(event));
}

Json number_or_text(double value) {
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

double number_from(const Json& json) {
    if (json.is_number())
        return json.get<double>();
    if (json == "NaN")
        return std::numeric_limits<double>::quiet_NaN();
    if (json == "Infinity")
        return std::numeric_limits<double>::infinity();
    if (json == "-Infinity")
        return -std::numeric_limits<double>::infinity();
    throw ConfigError("A number was expected, but " + json.dump(-1, ' ', false, Json::error_handler_t::replace) +
                      " was given.");
}

} // namespace espalier
