// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_operations.h"
#include "base/json.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// Where runs are kept if nothing else is said: ESPALIER_RUNS, else $XDG_DATA_HOME/espalier/runs, else
/// ~/.local/share/espalier/runs; on Windows %LOCALAPPDATA%\espalier\runs. Throws ConfigError if none of them is known.
[[nodiscard]] std::filesystem::path default_runs_root();

/// Throws ConfigError, saying why, for a name that some file system would refuse: longer than 100 bytes, with control
/// characters or one of <>:"/\|?*, with a dot or space at its end, a name that Windows keeps for devices (CON, COM1
/// ...), or one that is not UTF-8. An empty name is allowed.
void check_run_name(const std::string& name);

/// The paths of one run's folder, and its small JSON files, each written atomically.
class RunFolder {
public:
    /// A slash at the end of `path` does not count: "runs/foo/" is "runs/foo".
    explicit RunFolder(const std::filesystem::path& path) : path_(path.has_filename() ? path : path.parent_path()) {}

    /// Makes a new folder "20261231-235959-NAME" (local time) in `root`, or with "-2", "-3" ... behind it: of two that
    /// start in one second each gets its own. Throws ConfigError for a bad name, Error if the folder cannot be made.
    static RunFolder create(const std::filesystem::path& root, const std::string& name);
    /// Makes exactly this folder (--out), and an empty one for checkpoints in it: of two that want the same one gets
    /// it. Throws ConfigError if it is there and not empty, Error if it cannot be made.
    static RunFolder create_at(const std::filesystem::path& path);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// From the root, without ".", ".." and a slash at its end: its parent is the folder of runs.
    [[nodiscard]] std::filesystem::path absolute_path() const;
    [[nodiscard]] std::filesystem::path config() const { return path_ / "config.json"; }
    [[nodiscard]] std::filesystem::path passport() const { return path_ / "passport.json"; }
    [[nodiscard]] std::filesystem::path notes() const { return path_ / "notes.json"; }
    [[nodiscard]] std::filesystem::path events() const { return path_ / "events.jsonl"; }
    [[nodiscard]] std::filesystem::path layers() const { return path_ / "layers.jsonl"; }
    /// What is known of each device fault, one JSON object a line.
    [[nodiscard]] std::filesystem::path faults() const { return path_ / "faults.jsonl"; }
    [[nodiscard]] std::filesystem::path log() const { return path_ / "log.txt"; }
    [[nodiscard]] std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
    [[nodiscard]] std::filesystem::path tensorboard() const { return path_ / "tensorboard"; }
    [[nodiscard]] std::filesystem::path exports() const { return path_ / "exports"; }
    /// What people call the run: the name of its notes, else of its configuration, else of its folder. A damaged file
    /// has none.
    [[nodiscard]] std::string name() const;
    /// Whether this is the folder of a run: it has a config.json.
    [[nodiscard]] bool is_run() const;
    /// Throws ConfigError if it is not.
    void check_is_run() const;

    /// Name, tags and notes of the user: {"name": "...", "tags": ["..."], "notes": "..."}; empty where there are none
    /// yet.
    [[nodiscard]] Json read_notes() const;
    /// Throws ConfigError if `notes` has not that form.
    void write_notes(const Json& notes) const;

private:
    std::filesystem::path path_;
};

/// The run in whose folder, or a folder within it, a file lies.
[[nodiscard]] std::optional<RunFolder> run_around(const std::filesystem::path& file);

/// The runs in a folder, newest first (by name, which begins with the time). A missing folder has none.
[[nodiscard]] std::vector<RunFolder> runs_in(const std::filesystem::path& root);

/// Throws Error if the file cannot be read, ConfigError naming it if it holds no JSON.
[[nodiscard]] Json read_json(const std::filesystem::path& path);
/// The object in a JSON file; an empty one where there is none, or where the file is damaged: users may edit it.
[[nodiscard]] Json read_object(const std::filesystem::path& path);
/// Indented; written whole or not at all.
void write_json(const std::filesystem::path& path, const Json& json,
                FileOperations& operations = FileOperations::system());

} // namespace espalier
