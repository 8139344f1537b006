// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/checkpoint.h"

#include <optional>

namespace espalier {

/// The folder checkpoints/ of a run: step-00000150.safetensors and so on, best.safetensors, last.safetensors. best and
/// last are second names (hard links) of a step's file, or copies where the file system has no links. The folder
/// superseded/ in it holds what a resume from an earlier checkpoint took back, as many files as are kept of the others.
class CheckpointFolder {
public:
    explicit CheckpointFolder(std::filesystem::path folder, FileOperations& operations = FileOperations::system());

    struct Saved {
        std::filesystem::path file; ///< the step's file
        std::uint64_t bytes = 0;
        double seconds = 0;
        std::vector<std::string> kinds;    ///< "step", "best", "last"
        std::vector<std::string> warnings; ///< another name had to be taken; best or last could not be moved
    };
    /// Writes the step's file, makes it last (and best, if it is), then removes all but the newest `keep` (at least 2)
    /// step files (as many in superseded/) and what died half-written. Throws Error if nothing could be written: then
    /// all earlier files are as before.
    Saved save(const CheckpointInfo& info, const ParameterStore& store, bool best, std::int64_t keep);

    struct Found {
        std::optional<Checkpoint> checkpoint;
        std::filesystem::path file;
        std::vector<std::string> problems; ///< files that were passed over, with the reason
    };
    /// The newest checkpoint that is sound.
    [[nodiscard]] Found load_newest() const;

    /// What find() takes: "step-00000150" and so on, the newest first, "best", "last"; each only if it is there.
    [[nodiscard]] std::vector<std::string> names() const;
    /// The file of one of names(), with or without its suffix, or of a step's number ("150"). Throws ConfigError
    /// naming what is there.
    [[nodiscard]] std::filesystem::path find(const std::string& name) const;
    /// Makes a checkpoint of this folder, which must be sound, the newest: those of later steps, best among them, go to
    /// superseded/, and last shows it. Throws Error if the disk refuses; load_newest() finds a sound one at any moment.
    void go_back_to(const std::filesystem::path& file);

    [[nodiscard]] std::filesystem::path best() const { return folder_ / "best.safetensors"; }
    [[nodiscard]] std::filesystem::path last() const { return folder_ / "last.safetensors"; }

private:
    [[nodiscard]] std::filesystem::path superseded() const { return folder_ / "superseded"; }
    /// Step files, the newest first.
    [[nodiscard]] std::vector<std::filesystem::path> step_files() const;
    void name_also(const std::filesystem::path& file, const std::filesystem::path& name, Saved& saved);
    /// Gives a file a second name, in place of what may have that name. Returns what the system refuses.
    std::error_code link(const std::filesystem::path& file, const std::filesystem::path& name);
    void remove_old(std::int64_t keep);

    std::filesystem::path folder_;
    FileOperations& operations_;
};

} // namespace espalier
