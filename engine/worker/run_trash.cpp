// SPDX-License-Identifier: Apache-2.0
#include "worker/run_trash.h"

#include "base/error.h"
#include "worker/protocol.h"
#include "worker/run_link.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace espalier {
namespace {

namespace fs = std::filesystem;

/// In the folder of a deleted run: where it was, and when it was deleted.
constexpr const char* deleted_file = "deleted.json";

/// `path`, or with a number behind it where that is taken.
fs::path free_name(const fs::path& path) {
    auto name = path;
    for (int number = 2; fs::exists(name); ++number)
        name = path.string() + "-" + std::to_string(number);
    return name;
}

double seconds(std::chrono::system_clock::time_point time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
}

} // namespace

fs::path move_to_trash(const RunFolder& run) {
    if (is_supervised(run.path()))
        throw ConfigError("The run is still running or waiting. Stop it before deleting it.");
    const auto path = run.absolute_path();
    const auto trash = path.parent_path() / trash_folder;
    std::error_code error;
    fs::create_directories(trash, error);
    const auto target = free_name(trash / path.filename());
    if (!error) {
        write_json(path / deleted_file, {{"from", path.string()}, {"time", seconds(std::chrono::system_clock::now())}});
        fs::rename(path, target, error);
    }
    if (error) {
        std::error_code ignored;
        fs::remove(path / deleted_file, ignored);
        throw Error("The run's folder cannot be moved to " + trash.string() + ": " + error.message() + ".");
    }
    return target;
}

RunFolder restore_from_trash(const fs::path& folder) {
    const auto trashed = RunFolder(folder).absolute_path();
    const auto from = protocol::text_at(read_object(trashed / deleted_file), "from");
    if (from.empty() || trashed.parent_path().filename() != trash_folder)
        throw ConfigError("There is no deleted run in " + trashed.string() + ". Has the trash been emptied?");
    // The folder of runs may have been moved since, and a file of a run must not choose any place of the machine.
    const auto target = free_name(trashed.parent_path().parent_path() / RunFolder(from).path().filename());
    std::error_code error;
    fs::rename(trashed, target, error);
    if (error)
        throw Error("The run's folder cannot be moved back to " + target.string() + ": " + error.message() + ".");
    fs::remove(target / deleted_file, error);
    return RunFolder(target);
}

void empty_trash(const fs::path& runs, std::chrono::system_clock::time_point now) {
    std::vector<std::pair<double, fs::path>> deleted; // when, what
    for (const auto& run : runs_in(runs / trash_folder))
        if (const auto time = protocol::number_at(read_object(run.path() / deleted_file), "time");
            std::isfinite(time) && time > 0)
            deleted.emplace_back(time, run.path());
    std::ranges::sort(deleted, std::ranges::greater());
    for (std::size_t i = 0; i < deleted.size(); ++i) {
        const auto& [time, path] = deleted[i];
        std::error_code ignored;
        if ((i >= most_in_trash || time < seconds(now - longest_in_trash)) && !is_supervised(path))
            fs::remove_all(path, ignored);
    }
}

} // namespace espalier
