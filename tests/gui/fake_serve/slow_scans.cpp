// SPDX-License-Identifier: GPL-3.0-or-later
#include "slow_scans.h"

#include "output.h"
#include "worker/protocol.h"

#include <chrono>
#include <thread>

namespace espalier::test {

namespace {
constexpr int files = 200'000;
} // namespace

void SlowScans::begin(std::int64_t id) {
    const std::lock_guard guard(mutex_);
    going_.insert(id);
    std::thread([this, id] {
        for (int done = 0; done < files && goes(id); done += 20) {
            send_line(protocol::to_message(
                protocol::Reply{id, protocol::Reply::Kind::progress, {{"done", done}, {"total", files}}}));
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }).detach();
}

void SlowScans::cancel(std::int64_t id) {
    const std::lock_guard guard(mutex_);
    if (going_.erase(id) > 0)
        send_line(protocol::to_message(protocol::error_reply(id, "Cancelled.", 6)));
}

std::size_t SlowScans::count() {
    const std::lock_guard guard(mutex_);
    return going_.size();
}

bool SlowScans::goes(std::int64_t id) {
    const std::lock_guard guard(mutex_);
    return going_.contains(id);
}

} // namespace espalier::test
