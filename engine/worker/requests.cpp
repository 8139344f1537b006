// SPDX-License-Identifier: Apache-2.0
#include "worker/requests.h"

#include "base/error.h"
#include "train/run_config.h"
#include "worker/protocol.h"

#include <algorithm>

namespace espalier {
namespace {

/// An argument as it came, for an error's text.
std::string shown(const Json& arguments, const char* key) {
    return arguments.at(key).dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 100);
}

} // namespace

void RequestContext::check() const {
    if (stop.stop_requested())
        throw Error("Cancelled.", ExitCode::stopped);
}

const RequestFunctions& request_functions() {
    static const RequestFunctions functions = {
        {"probe", answer_probe},
        {"presets", answer_presets},
        {"list", answer_list},
        {"runs", answer_runs},
        {"overview", answer_overview},
        {"start", answer_start},
        {"resume", answer_resume},
        {"checkpoints", answer_checkpoints},
        {"queue", answer_queue},
        {"rename", answer_rename},
        {"notes", answer_rename},
        {"delete", answer_delete},
        {"restore", answer_restore},
        {"report", answer_report},
        {"command_line", answer_command_line},
        {"fetch", answer_fetch},
        {"scan", answer_scan},
        {"thumbnails", answer_thumbnails},
        {"export", answer_export},
        {"plan", answer_plan},
        {"predict", answer_predict},
        {"evaluate", answer_evaluate},
        {"confusion", answer_confusion},
        {"cell_images", answer_cell_images},
    };
    return functions;
}

std::string required_text(const Json& arguments, const char* key) {
    const auto text = protocol::text_at(arguments, key);
    if (text.empty())
        throw ConfigError(std::string("The request needs a text `") + key + "`.");
    return text;
}

std::string optional_text(const Json& arguments, const char* key, std::string otherwise) {
    if (arguments.contains(key) && !arguments.at(key).is_string())
        throw ConfigError(std::string("The request's `") + key +
                          "` must be a text; this came: " + shown(arguments, key) + ".");
    return protocol::text_at(arguments, key, std::move(otherwise));
}

std::vector<std::string> required_texts(const Json& arguments, const char* key) {
    const auto list = arguments.find(key);
    if (list == arguments.end() || !list->is_array() || list->empty() ||
        !std::ranges::all_of(*list, [](const Json& item) { return item.is_string(); }))
        throw ConfigError(std::string("The request needs a list of texts `") + key + "`" +
                          (list == arguments.end() ? "." : "; this came: " + shown(arguments, key) + "."));
    return list->get<std::vector<std::string>>();
}

bool flag_argument(const Json& arguments, const char* key) {
    if (arguments.contains(key) && !arguments.at(key).is_boolean())
        throw ConfigError(std::string("The request's `") + key +
                          "` must be true or false; this came: " + shown(arguments, key) + ".");
    return protocol::flag_at(arguments, key);
}

std::int64_t whole_argument(const Json& arguments, const char* key, std::int64_t otherwise, std::int64_t least,
                            std::int64_t most) {
    if (!arguments.contains(key))
        return otherwise;
    const auto number = protocol::to_whole(arguments.at(key));
    if (!number || *number < least || *number > most)
        throw ConfigError(std::string("The request's `") + key + "` must be a whole number from " +
                          std::to_string(least) + " to " + std::to_string(most) +
                          "; this came: " + shown(arguments, key) + ".");
    return *number;
}

double number_argument(const Json& arguments, const char* key, double otherwise, double least, double most) {
    if (!arguments.contains(key))
        return otherwise;
    const Json& number = arguments.at(key);
    if (!number.is_number() || !(number.get<double>() >= least && number.get<double>() <= most))
        throw ConfigError(std::string("The request's `") + key + "` must be a number from " + Json(least).dump() +
                          " to " + Json(most).dump() + "; this came: " + shown(arguments, key) + ".");
    return number.get<double>();
}

Json whole_config(const Json& config) {
    if (!config.is_object())
        throw ConfigError(
            "The request needs an object `config`: a run's configuration, or a preset and what differs from it.");
    const auto name = protocol::text_at(config, "preset");
    return name.empty() ? config : merged(preset(name), config);
}

} // namespace espalier
