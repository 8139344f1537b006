// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/events.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string_view>

namespace espalier {

/// Commands from the thread that reads them to the trainer.
class CommandQueue : public CommandSource {
public:
    void push(Command command);
    std::optional<Command> poll() override;
    std::optional<Command> wait(std::chrono::milliseconds limit) override;

private:
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Command> waiting_;
};

/// "pause", "resume", "stop", "checkpoint" as the protocol writes them; nothing for another name.
[[nodiscard]] std::optional<Command> command_named(std::string_view name);

} // namespace espalier
