// SPDX-License-Identifier: Apache-2.0
#include "worker/run_results.h"

#include "base/atomic_file.h"
#include "io/run_folder.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
constexpr int format = 1;

/// Size and time of a checkpoint's file: best.safetensors is another one after each better epoch.
Json stamp_of(const fs::path& checkpoint) {
    return {fs::file_size(checkpoint), fs::last_write_time(checkpoint).time_since_epoch().count()};
}

} // namespace

void save_results(const fs::path& file, const fs::path& checkpoint, const RunResults& results) {
    fs::create_directories(file.parent_path());
    const Json json = {{"format", format},
                       {"checkpoint", stamp_of(checkpoint)},
                       {"summary", results.summary},
                       {"data", results.data},
                       {"part_of_data", results.part_of_data},
                       {"left_out", results.left_out},
                       {"index", results.index},
                       {"truth", results.truth},
                       {"predicted", results.predicted},
                       {"probability", results.probability}};
    write_file_atomically(file, json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::optional<RunResults> load_results(const fs::path& file, const fs::path& checkpoint) {
    try {
        if (!fs::exists(file))
            return std::nullopt;
        const auto json = read_json(file);
        if (json.at("format") != format || json.at("checkpoint") != stamp_of(checkpoint))
            return std::nullopt;
        RunResults results{json.at("summary"), json.at("data"),  json.at("part_of_data"), json.at("left_out"),
                           json.at("index"),   json.at("truth"), json.at("predicted"),    json.at("probability")};
        const auto images = results.index.size();
        if (results.truth.size() != images || results.predicted.size() != images ||
            results.probability.size() != images)
            return std::nullopt;
        return results;
    } catch (const std::exception&) { // made anew, it is as good
        return std::nullopt;
    }
}

} // namespace espalier
