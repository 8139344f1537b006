// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/events.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>

namespace espalier {

/// Writes events as lines in a thread of its own, so that a slow reader never holds up the trainer. While lines wait, a
/// newer `resources` event takes the place of an older one, and steps that follow each other are joined into one line;
/// nothing else is ever dropped. Once a second a `heartbeat` with the last step and phase goes out.
class EventWriter : public EventSink {
public:
    /// Puts a line (with LF) into the channel; false if the channel is broken: nothing more is written then.
    using Channel = std::function<bool(std::string_view line)>;

    explicit EventWriter(Channel channel, std::chrono::milliseconds heartbeat = std::chrono::seconds(1));
    /// As close(), without waiting.
    ~EventWriter() override;
    EventWriter(const EventWriter&) = delete;
    EventWriter& operator=(const EventWriter&) = delete;

    void send(Json event) override;
    /// Ends when everything is written, or after `patience` if the reader does not take it. True if all was written.
    bool close(std::chrono::milliseconds patience);

private:
    struct State;
    std::shared_ptr<State> state_; ///< the thread's too: it may be stuck in a write when this object goes
    std::thread thread_;
};

} // namespace espalier
