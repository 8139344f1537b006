// SPDX-License-Identifier: Apache-2.0
#include "worker/run_results.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/file_operations.h"
#include "io/run_folder.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
constexpr int format = 3; // 2: classes were not in the hash

Json to_json(const CheckpointStamp& stamp) { return {stamp.size, stamp.time}; }

} // namespace

CheckpointStamp stamp_of(const fs::path& checkpoint) {
    std::error_code error;
    CheckpointStamp stamp{.size = fs::file_size(checkpoint, error)};
    if (!error)
        stamp.time = static_cast<std::int64_t>(fs::last_write_time(checkpoint, error).time_since_epoch().count());
    if (error)
        throw Error("The checkpoint " + checkpoint.string() + " cannot be read: " + error.message() + ".");
    return stamp;
}

void save_results(const fs::path& file, const CheckpointStamp& checkpoint, const RunResults& results) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error)
        throw Error("The results cannot be kept in " + file.parent_path().string() + ": " + error.message() + ". " +
                    remedy_for(error));
    const Json json = {{"format", format},
                       {"checkpoint", to_json(checkpoint)},
                       {"summary", results.summary},
                       {"data", results.data},
                       {"part_of_data", results.part_of_data},
                       {"images", results.images},
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
        if (json.at("format") != format || json.at("checkpoint") != to_json(stamp_of(checkpoint)))
            return std::nullopt;
        RunResults results{json.at("summary"), json.at("data"),      json.at("part_of_data"),
                           json.at("images"),  json.at("left_out"),  json.at("index"),
                           json.at("truth"),   json.at("predicted"), json.at("probability")};
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
