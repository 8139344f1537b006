// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace espalier {

class TrainedModel;
struct RunConfig;

/// What a request's function may use while it works, in a thread of its own.
struct RequestContext {
    std::filesystem::path runs_root;
    std::stop_token stop; ///< asked to when the request is cancelled
    std::function<void(Json)> progress = [](Json) {};
    /// A piece of a long answer, sent now; arrays and texts are appended (protocol::join_part).
    std::function<void(Json)> part = [](Json) {};
    /// Throws in words if this machine cannot do a run (AnswerChildren::check_machine).
    std::function<void(const RunConfig& config)> check_machine = [](const RunConfig&) {};
    /// Whoever holds a device for this program lets go of it: what a run trains on shall be free.
    std::function<void()> free_devices = [] {};

    /// Throws Error of code `stopped` if the request was cancelled.
    void check() const;
};

/// From the arguments of docs/PROTOCOL.md to the answer. Errors are thrown. The command line calls the same functions.
using RequestFunction = std::function<Json(const Json& arguments, const RequestContext& context)>;

using RequestFunctions = std::map<std::string, RequestFunction>;

/// Every request but those that the server answers itself (attach, detach, command, cancel), by name.
[[nodiscard]] const RequestFunctions& request_functions();

// What there is: requests_machine.cpp
Json answer_probe(const Json& arguments, const RequestContext& context);
Json answer_presets(const Json& arguments, const RequestContext& context);
Json answer_list(const Json& arguments, const RequestContext& context);
// Runs: requests_runs.cpp
Json answer_runs(const Json& arguments, const RequestContext& context);
Json answer_overview(const Json& arguments, const RequestContext& context);
Json answer_start(const Json& arguments, const RequestContext& context);
Json answer_checkpoints(const Json& arguments, const RequestContext& context);
Json answer_resume(const Json& arguments, const RequestContext& context);
Json answer_queue(const Json& arguments, const RequestContext& context);
Json answer_rename(const Json& arguments, const RequestContext& context);
Json answer_delete(const Json& arguments, const RequestContext& context);
Json answer_restore(const Json& arguments, const RequestContext& context);
Json answer_command_line(const Json& arguments, const RequestContext& context);
Json answer_report(const Json& arguments, const RequestContext& context);
Json answer_fetch(const Json& arguments, const RequestContext& context);
// Data: requests_data.cpp
Json answer_scan(const Json& arguments, const RequestContext& context);
Json answer_thumbnails(const Json& arguments, const RequestContext& context);
// The fit check: requests_plan.cpp
Json answer_plan(const Json& arguments, const RequestContext& context);
// Checkpoints: requests_checkpoint.cpp
Json answer_predict(const Json& arguments, const RequestContext& context);
/// Of one image, named by `image` or `base64`: [{name, probability}], the most probable first.
Json predicted_classes(TrainedModel& model, const Json& image);
Json answer_evaluate(const Json& arguments, const RequestContext& context);
Json answer_export(const Json& arguments, const RequestContext& context);
/// "onnx, safetensors, network or genotype": all that a network can be exported as.
[[nodiscard]] std::string export_formats_text();
// What a network confuses: requests_results.cpp
Json answer_confusion(const Json& arguments, const RequestContext& context);
Json answer_cell_images(const Json& arguments, const RequestContext& context);

/// The text argument; throws ConfigError naming it if it is absent or no text.
[[nodiscard]] std::string required_text(const Json& arguments, const char* key);
/// The same for one that may be left out.
[[nodiscard]] std::string optional_text(const Json& arguments, const char* key, std::string otherwise = {});
/// Whether the argument is true; one that is left out is not. Throws ConfigError naming it if it is neither.
[[nodiscard]] bool flag_argument(const Json& arguments, const char* key);
/// The list of texts; throws ConfigError naming it if it is absent, empty or another thing.
[[nodiscard]] std::vector<std::string> required_texts(const Json& arguments, const char* key);
/// The whole number, `otherwise` if it is left out; throws ConfigError naming it and its limits if it is none of
/// `least` to `most`.
[[nodiscard]] std::int64_t whole_argument(const Json& arguments, const char* key, std::int64_t otherwise,
                                          std::int64_t least, std::int64_t most);
/// The same for any finite number.
[[nodiscard]] double number_argument(const Json& arguments, const char* key, double otherwise, double least,
                                     double most);

/// The RunConfig that `config` means: laid over the preset that it names. Throws ConfigError.
[[nodiscard]] Json whole_config(const Json& config);

} // namespace espalier
