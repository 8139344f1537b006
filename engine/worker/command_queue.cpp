// SPDX-License-Identifier: Apache-2.0
#include "worker/command_queue.h"

namespace espalier {

void CommandQueue::push(Command command) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(command);
    }
    wake_.notify_one();
}

std::optional<Command> CommandQueue::poll() { return wait(std::chrono::milliseconds(0)); }

std::optional<Command> CommandQueue::wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    if (!wake_.wait_for(lock, limit, [this] { return !waiting_.empty(); }))
        return std::nullopt;
    const auto command = waiting_.front();
    waiting_.pop_front();
    return command;
}

std::optional<Command> command_named(std::string_view name) {
    if (name == "pause")
        return Command::pause;
    if (name == "resume")
        return Command::resume;
    if (name == "stop")
        return Command::stop;
    if (name == "checkpoint")
        return Command::checkpoint;
    return std::nullopt;
}

} // namespace espalier
