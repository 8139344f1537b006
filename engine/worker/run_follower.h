// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/event_files.h"
#include "worker/run_client.h"
#include "worker/run_past.h"

#include <QTimer>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

namespace espalier {

/// Attached to a run: all its events so far, then what comes, until its supervisor has gone (at once, if there is
/// none). Who takes tables gets the past of a long run from its columns, which are made first if need be, in a thread
/// of their own; heartbeats are left out there.
class RunFollower {
public:
    struct Handlers {
        std::function<void(std::string_view line)> line; ///< an event as it stands in the file
        std::function<void()> caught_up;                 ///< once: all events so far were given
        std::function<void()> ended;
        std::function<bool()> room; ///< whether more may be given now; empty: always

        std::function<void(const ColumnTable& table)> table; ///< empty: every event comes as a line
        std::function<void(double share)> making;            ///< how much of the columns has been made, 0 to 1
        /// Called in the other thread, before any event is given.
        std::function<void(RunPast& past, const std::stop_token& stop)> opened;
    };

    /// Throws ConfigError if `run` is no run's folder. Nothing is called before the event loop runs.
    RunFollower(const std::filesystem::path& run, Handlers handlers);
    /// As RunClient::command.
    void command(const std::string& command, std::function<void(std::optional<Refusal>)> answered) {
        client_.command(command, std::move(answered));
    }

private:
    void open_past(const std::filesystem::path& run);
    void start(const std::filesystem::path& run, std::shared_ptr<RunPast> past);
    void pump();
    void pump_soon();
    /// The next block of the past; false if there is none.
    bool pump_past();

    Handlers handlers_;
    std::shared_ptr<RunPast> past_; ///< as long as it is being given
    std::size_t next_block_ = 0;
    std::optional<EventCursor> cursor_;
    RunClient client_;
    QTimer again_;
    bool caught_up_ = false;
    bool ended_ = false;
    std::jthread opening_; ///< last: it ends before what it uses
};

} // namespace espalier
