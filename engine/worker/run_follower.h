// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/event_files.h"
#include "worker/run_client.h"

#include <QTimer>
#include <filesystem>
#include <functional>

namespace espalier {

/// Attached to a run: all its events so far, then what comes, until its supervisor has gone (at once, if there is
/// none).
class RunFollower {
public:
    struct Handlers {
        std::function<void(std::string_view line)> line; ///< an event as it stands in the file
        std::function<void()> caught_up;                 ///< once: all events so far were given
        std::function<void()> ended;
        std::function<bool()> room; ///< whether more may be given now; empty: always
    };

    /// Throws DataError if `run` is no run's folder. Nothing is called before the event loop runs.
    RunFollower(const std::filesystem::path& run, Handlers handlers);
    /// As RunClient::command.
    void command(const std::string& command, std::function<void(std::optional<Refusal>)> answered) {
        client_.command(command, std::move(answered));
    }

private:
    void pump();

    Handlers handlers_;
    EventCursor cursor_;
    RunClient client_;
    QTimer again_;
    bool caught_up_ = false;
    bool ended_ = false;
};

} // namespace espalier
