// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/protocol.h"

#include <QLocalServer>
#include <filesystem>
#include <functional>
#include <list>

class QLocalSocket;

namespace espalier {

/// The supervisor's side of a run's local socket. It greets with {"supervisor": pid, "protocol": "1.0",
/// "paused": false}, says {"grown":
/// true} when events have been added to the run's files (attachers read those themselves, so a slow one costs the
/// supervisor nothing), and answers {"command": "pause"} with {"taken": "pause"} or {"refused": "pause", "text":
/// "..."}.
class RunSocket {
public:
    /// Throws Error with a reason if the command cannot be taken.
    using CommandHandler = std::function<void(const std::string& command)>;

    /// Listens and writes the run's RunLink; throws Error if the system refuses. `is_paused` is asked for each
    /// greeting.
    RunSocket(const std::filesystem::path& run, CommandHandler on_command, std::function<bool()> is_paused);
    /// Closes all connections: attachers take it as the end of this supervisor.
    ~RunSocket();
    RunSocket(const RunSocket&) = delete;
    RunSocket& operator=(const RunSocket&) = delete;

    void tell_grown();

private:
    struct Attacher {
        QLocalSocket* socket;
        protocol::LineReader reader;
        bool told_nothing = false; ///< grown while the last message was still on its way
    };
    void accept();
    void serve(Attacher& attacher, const Json& message);

    CommandHandler on_command_;
    std::function<bool()> is_paused_;
    QLocalServer server_;
    std::list<Attacher> attachers_;
};

} // namespace espalier
