// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/protocol.h"

#include <QLocalSocket>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace espalier {

/// Why a run did not take a command.
struct Refusal {
    std::string text;
    int code = 1;
};

/// An attacher's side of a run's local socket (run_socket.h).
class RunClient {
public:
    struct Handlers {
        std::function<void()> grown;
        std::function<void()> closed; ///< the supervisor has gone
    };

    explicit RunClient(Handlers handlers);
    ~RunClient();
    RunClient(const RunClient&) = delete;
    RunClient& operator=(const RunClient&) = delete;

    /// Waits up to two seconds; false if no supervisor answers.
    bool open(const std::filesystem::path& run);
    [[nodiscard]] bool is_open() const { return socket_.state() == QLocalSocket::ConnectedState; }
    /// `answered` gets nothing when the supervisor has taken the command.
    void command(const std::string& command, std::function<void(std::optional<Refusal>)> answered);

private:
    void take(const Json& message);
    void closed();

    Handlers handlers_;
    QLocalSocket socket_;
    protocol::LineReader reader_;
    std::deque<std::function<void(std::optional<Refusal>)>> waiting_; ///< answers come in order
};

} // namespace espalier
