// SPDX-License-Identifier: Apache-2.0
#include "worker/requests.h"

#include "base/error.h"
#include "train/run_config.h"
#include "worker/protocol.h"

namespace espalier {

void RequestContext::check() const {
    if (stop.stop_requested())
        throw Error("Cancelled.", ExitCode::stopped);
}

const std::map<std::string, RequestFunction>& request_functions() {
    static const std::map<std::string, RequestFunction> functions = {
        {"probe", answer_probe},       {"presets", answer_presets}, {"list", answer_list},
        {"runs", answer_runs},         {"start", answer_start},     {"resume", answer_resume},
        {"rename", answer_rename},     {"notes", answer_rename},    {"delete", answer_delete},
        {"fetch", answer_fetch},       {"scan", answer_scan},       {"thumbnails", answer_thumbnails},
        {"export", answer_export},     {"plan", answer_plan},       {"predict", answer_predict},
        {"evaluate", answer_evaluate},
    };
    return functions;
}

std::string required_text(const Json& arguments, const char* key) {
    const auto text = protocol::text_at(arguments, key);
    if (text.empty())
        throw ConfigError(std::string("The request needs a text `") + key + "`.");
    return text;
}

Json whole_config(const Json& config) {
    if (!config.is_object())
        throw ConfigError(
            "The request needs an object `config`: a run's configuration, or a preset and what differs from it.");
    const auto name = protocol::text_at(config, "preset");
    return name.empty() ? config : merged(preset(name), config);
}

} // namespace espalier
