// SPDX-License-Identifier: GPL-3.0-or-later
#include "fake_run.h"

#include "behaviour.h"
#include "output.h"
#include "worker/protocol.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace espalier::test {

void FakeRun::wait_in_queue() {
    const std::lock_guard guard(mutex_);
    state_ = "queued";
    over_ = false;
    emit(sample_.phase("queued", "Waits in the queue until grow-2 has ended or is paused."));
}

bool FakeRun::leave_queue(bool begins) {
    {
        const std::lock_guard guard(mutex_);
        if (state_ != "queued")
            return false;
        if (!begins)
            finish("stopped", "Stopped by the user.", 6);
    }
    if (begins)
        begin();
    return true;
}

void FakeRun::begin() {
    end();
    quit_ = over_ = false; // before the thread runs: who attaches at once must not be told that it is over
    state_ = "running";
    thread_ = std::thread([this] { train(); });
}

void FakeRun::end() {
    command("stop");
    if (thread_.joinable())
        thread_.join();
}

void FakeRun::give_past(std::vector<Json> events) {
    events_ = std::move(events);
    begun_ = true;
}

void FakeRun::annotate(const Json& arguments) {
    const std::lock_guard guard(mutex_);
    for (const char* key : {"name", "tags", "notes"})
        if (arguments.contains(key))
            notes_[key] = arguments[key];
}

bool FakeRun::waits() {
    const std::lock_guard guard(mutex_);
    return state_ == "queued";
}

void FakeRun::hold_past_back() { held_ = true; }

void FakeRun::attach(std::int64_t id) {
    const std::lock_guard guard(mutex_);
    if (held_) {
        waiting_ = id;
        return;
    }
    send_past(id);
}

void FakeRun::command(const std::string& name) {
    const std::lock_guard guard(mutex_);
    if (name == "pause")
        paused_ = true;
    else if (name == "resume")
        paused_ = false;
    else if (name == "stop")
        quit_ = true;
    else if (name == "checkpoint")
        save_ = true;
    if (quit_ && std::exchange(held_, false)) {
        state_ = "stopped";
        events_.push_back(sample_.phase("stopped"));
        if (waiting_)
            send_past(waiting_);
    }
    wake_.notify_all();
}

Json FakeRun::entry(std::size_t place) {
    const std::lock_guard guard(mutex_);
    return {{"path", path_},
            {"name", protocol::text_at(notes_, "name", path_.substr(path_.rfind('/') + 1))},
            {"tags", notes_.value("tags", Json::array())},
            {"notes", protocol::text_at(notes_, "notes")},
            {"queue", place},
            {"preset", "quick"},
            {"state", state_},
            {"epoch", sample_.step() / 63},
            {"epochs", 12},
            {"step", sample_.step()},
            {"best_accuracy", 0.867},
            {"started", 1.79e9},
            {"seconds", 41},
            {"reason", ""},
            {"checkpoint",
             std::ranges::any_of(events_, [](const Json& event) { return protocol::is_event(event, "checkpoint"); })}};
}

void FakeRun::send(std::int64_t id, const Json& event) {
    send_line(protocol::to_message(protocol::Reply{id, protocol::Reply::Kind::progress, {{"event", event}}}));
}

void FakeRun::send_past(std::int64_t id) {
    for (const Json& event : events_)
        send(id, event);
    send_line(protocol::to_message(protocol::Reply{id, protocol::Reply::Kind::progress, {{"caught_up", true}}}));
    attached_ = id;
    if (over_)
        release();
}

void FakeRun::emit(Json event) {
    events_.push_back(std::move(event));
    if (attached_)
        send(attached_, events_.back());
}

void FakeRun::release() {
    if (attached_)
        send_line(protocol::to_message(protocol::Reply{attached_, protocol::Reply::Kind::answer, Json::object()}));
    attached_ = 0;
}

void FakeRun::train() {
    std::unique_lock lock(mutex_);
    if (behaviour.gpu)
        sample_.use_gpu();
    if (!std::exchange(begun_, true)) {
        for (Json& event : sample_.past(0))
            emit(std::move(event));
    } else {
        emit(sample_.hello(2));
        emit(sample_.phase("training"));
    }
    constexpr auto period = std::chrono::milliseconds(50);
    auto next = std::chrono::steady_clock::now();
    while (sample_.step() < sample_.last_step() && !quit_) {
        if (paused_) {
            state_ = "paused";
            emit(sample_.checkpoint());
            emit(sample_.phase("paused"));
            wake_.wait(lock, [this] { return !paused_ || quit_; });
            if (quit_)
                break;
            state_ = "running";
            emit(sample_.phase("training"));
        }
        if (save_) {
            save_ = false;
            emit(sample_.checkpoint({"step"}));
        }
        emit(behaviour.flood ? flood() : sample_.steps(behaviour.pace));
        emit(sample_.resources());
        if (sample_.step() % 30 == 0)
            emit(sample_.layers());
        if (behaviour.fall_back_at && !fell_back_ && sample_.step() >= behaviour.fall_back_at) {
            fell_back_ = true;
            emit(sample_.fallback("recompute", "off", "on", "This step needs 9.1 GB, but the limit is 7.2 GB.",
                                  {{"toggles", {{"recompute", false}}}}));
        }
        misbehave();
        if (!behaviour.flood && sample_.left_in_epoch() == 63) {
            emit(sample_.epoch_end());
            emit(sample_.evaluation());
            emit(sample_.checkpoint({"best", "last"}));
        }
        if (behaviour.crash_at && sample_.step() >= behaviour.crash_at) {
            if (behaviour.half_line)
                send_raw(event_line(R"({"type":"steps","step":)").substr(0, 40));
            std::_Exit(9);
        }
        if (behaviour.hang_at && sample_.step() >= behaviour.hang_at)
            std::raise(SIGSTOP);
        if (behaviour.fail_at && sample_.step() >= behaviour.fail_at) {
            emit(sample_.event("error", {{"text", "The loss was not a number for 20 steps in a row."}, {"code", 1}}));
            finish("failed", "The loss was not a number for 20 steps in a row. Lower the learning rate.", 1);
            return;
        }
        // On a schedule, so that the time to write a line does not slow the pace; late lines are not made up for.
        next = std::max(next + period, std::chrono::steady_clock::now());
        lock.unlock();
        std::this_thread::sleep_until(next);
        lock.lock();
    }
    emit(sample_.checkpoint());
    finish(quit_ ? "stopped" : "finished", "", quit_ ? 6 : 0);
}

std::string FakeRun::event_line(const std::string& event) const {
    return "{\"id\":" + std::to_string(attached_) + ",\"progress\":{\"event\":" + event + "}}\n";
}

void FakeRun::misbehave() const {
    if (behaviour.noise)
        send_raw("this is not a line of the protocol\n");
    if (behaviour.not_utf8)
        send_raw(event_line("{\"type\":\"warning\",\"text\":\"caf\xe9.png cannot be read\"}"));
    if (behaviour.long_line)
        send_raw(event_line("{\"type\":\"warning\",\"text\":\"" + std::string(10 << 20, 'x') + "\"}"));
    if (behaviour.complain)
        for (int i = 0; i < 20000; ++i)
            std::fputs("a library that warns of every image, again and again, as long as it lives\n", stderr);
}

Json FakeRun::flood() {
    Json values = Json::array(), seconds = Json::array();
    for (int i = 0; i < 5000; ++i) {
        values.push_back(0.5 + 0.001 * (i % 97));
        seconds.push_back(1e-5);
    }
    const std::int64_t first = flooded_ + 1;
    flooded_ += 5000;
    return sample_.event("steps", {{"step", first},
                                   {"loss", values},
                                   {"accuracy", values},
                                   {"learning_rate", values},
                                   {"seconds", seconds},
                                   {"epoch", static_cast<double>(first) / 1e6}});
}

void FakeRun::finish(const char* phase, const char* reason, int code) {
    state_ = phase;
    over_ = true;
    emit(sample_.phase(phase, reason));
    emit(sample_.event("bye", {{"code", code}, {"reason", reason}, {"seconds", 3}}));
    release();
}

} // namespace espalier::test
