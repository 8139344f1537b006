// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sample_run.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace espalier::test {

/// One run: a thread that makes events, which are kept and sent to who is attached.
class FakeRun {
public:
    FakeRun(std::string path, std::string state) : path_(std::move(path)), state_(std::move(state)) {}
    FakeRun(const FakeRun&) = delete;
    FakeRun& operator=(const FakeRun&) = delete;
    ~FakeRun() { end(); }

    void wait_in_queue();
    /// Of a run that waits in the queue; whether it does.
    bool leave_queue(bool begins);
    void begin();
    void end();
    void give_past(std::vector<Json> events);
    void annotate(const Json& arguments);
    [[nodiscard]] bool waits();
    void hold_past_back();
    void attach(std::int64_t id);
    void command(const std::string& name);
    [[nodiscard]] Json entry(std::size_t place);

private:
    void send(std::int64_t id, const Json& event);
    void send_past(std::int64_t id); ///< with the lock held
    void emit(Json event);           ///< with the lock held
    void release();
    void train();
    Json flood();
    [[nodiscard]] std::string event_line(const std::string& event) const;
    void misbehave() const; ///< what no engine should write
    void finish(const char* phase, const char* reason, int code);

    std::string path_, state_;
    SampleRun sample_{63, 12,
                      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()};
    std::vector<Json> events_;
    Json notes_ = Json::object();
    bool begun_ = false;
    std::int64_t attached_ = 0, waiting_ = 0, flooded_ = 0;
    bool paused_ = false, quit_ = false, save_ = false, over_ = true, held_ = false, fell_back_ = false;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::thread thread_;
};

} // namespace espalier::test
