// SPDX-License-Identifier: Apache-2.0
#include "worker/event_writer.h"

#include "worker/protocol.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace espalier {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* columns[] = {"loss", "accuracy", "learning_rate", "seconds"};

/// Appends the steps of `next` to those of `event` if they follow without a gap.
bool join_steps(Json& event, const Json& next) {
    if (!protocol::is_event(event, "steps") || protocol::last_step(event) + 1 != next.at("step"))
        return false;
    for (const char* column : columns)
        for (const auto& value : next.at(column))
            event[column].push_back(value);
    return true;
}

} // namespace

struct EventWriter::State {
    Channel channel;
    std::chrono::milliseconds heartbeat;

    std::mutex mutex; ///< guards all that follows
    std::condition_variable wake, drained;
    std::deque<Json> waiting;
    bool closing = false;
    bool done = false; ///< the thread has written everything, or its channel is broken
    std::int64_t step = 0;
    std::string phase = "preparing";

    void push(Json event);
    void work();
    [[nodiscard]] Json beat() const;
    /// False if the channel is broken.
    [[nodiscard]] bool write(const Json& event) const;
};

void EventWriter::State::push(Json event) {
    const std::lock_guard lock(mutex);
    if (protocol::is_event(event, "phase"))
        phase = event.value("phase", phase);
    if (protocol::is_event(event, "steps"))
        step = protocol::last_step(event);
    if (protocol::is_event(event, "resources"))
        std::erase_if(waiting, [](const Json& other) { return protocol::is_event(other, "resources"); });
    else if (protocol::is_event(event, "steps") && !waiting.empty() && join_steps(waiting.back(), event))
        return;
    waiting.push_back(std::move(event));
    wake.notify_one();
}

Json EventWriter::State::beat() const {
    Json event = make_event("heartbeat");
    event["step"] = step;
    event["phase"] = phase;
    return event;
}

bool EventWriter::State::write(const Json& event) const {
    try {
        for (const auto& line : protocol::to_lines(event))
            if (!channel(line))
                return false;
    } catch (const std::exception& error) { // an event that no line can hold: told instead of it
        Json warning = make_event("warning");
        warning["text"] = "An event of type " + event.value("type", "?") + " could not be written: " + error.what();
        return channel(warning.dump() + '\n');
    }
    return true;
}

void EventWriter::State::work() {
    auto next_beat = Clock::now() + heartbeat;
    std::unique_lock lock(mutex);
    for (bool sound = true; sound;) {
        wake.wait_until(lock, next_beat, [&] { return closing || !waiting.empty(); });
        if (Clock::now() >= next_beat) {
            waiting.push_back(beat());
            next_beat = Clock::now() + heartbeat;
        }
        if (waiting.empty()) {
            if (closing)
                break;
            continue;
        }
        const Json event = std::move(waiting.front());
        waiting.pop_front();
        lock.unlock();
        sound = write(event);
        lock.lock();
    }
    done = true;
    drained.notify_all();
}

EventWriter::EventWriter(Channel channel, std::chrono::milliseconds heartbeat) : state_(std::make_shared<State>()) {
    state_->channel = std::move(channel);
    state_->heartbeat = heartbeat;
    thread_ = std::thread([state = state_] { state->work(); });
}

EventWriter::~EventWriter() { close(std::chrono::milliseconds(0)); }

void EventWriter::send(Json event) { state_->push(std::move(event)); }

bool EventWriter::close(std::chrono::milliseconds patience) {
    if (!thread_.joinable())
        return true;
    std::unique_lock lock(state_->mutex);
    state_->closing = true;
    state_->wake.notify_one();
    const bool done = state_->drained.wait_for(lock, patience, [&] { return state_->done; });
    lock.unlock();
    done ? thread_.join() : thread_.detach();
    return done;
}

} // namespace espalier
