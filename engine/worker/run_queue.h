// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

class QLockFile;

namespace espalier {

/// The runs of a folder that wait for their turn. queue.json in it holds their names in order; who changes it holds
/// queue.lock. Each waiting run has a supervisor that asks for its turn, so no process but those has to live: a
/// supervisor that dies frees the way of those behind it.
class RunQueue {
public:
    /// Whose turn it is, as one of the waiting sees it.
    struct Turn {
        bool come = false;  ///< it is out of the queue now, and has to begin
        std::string reason; ///< why it has not come, for people
    };

    explicit RunQueue(std::filesystem::path runs) : runs_(std::move(runs)) {}

    /// Names of the run folders as they stand in the file; those whose supervisor was killed may still be there.
    [[nodiscard]] std::vector<std::string> waiting() const;
    /// The place of a run, from 1; 0: it does not wait.
    [[nodiscard]] std::size_t place(const std::string& run) const;
    /// Puts the run at the end if it is not in the queue yet. It has its turn when no run is before it and none of the
    /// folder trains; one that is paused does not count. Nothing if somebody else is at the queue right now: ask again.
    /// Throws Error if the queue cannot be written.
    [[nodiscard]] std::optional<Turn> ask(const std::string& run);
    /// Takes the run out, if it is in. Throws Error if the queue cannot be written.
    void leave(const std::string& run);
    /// These first, in this order; names that do not wait are left out, the others keep their order behind them. Throws
    /// Error if the queue cannot be written.
    void reorder(const std::vector<std::string>& names);

private:
    /// The lock, held; null if that took longer than `patience_ms`.
    [[nodiscard]] std::unique_ptr<QLockFile> lock(int patience_ms) const;
    void write(const std::vector<std::string>& names) const;
    /// Name of a run of the folder that trains, for people.
    [[nodiscard]] std::optional<std::string> training(const std::vector<std::string>& waiting,
                                                      const std::string& but) const;

    std::filesystem::path runs_;
};

} // namespace espalier
