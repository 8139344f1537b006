// SPDX-License-Identifier: Apache-2.0
#include "worker/output_queue.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

namespace espalier {

struct OutputQueue::State {
    std::FILE* stream = nullptr;
    std::mutex mutex;
    std::condition_variable changed;
    std::string waiting;
    std::size_t being_written = 0;
    bool ending = false;
    bool broken = false; ///< the reader has gone

    [[nodiscard]] std::size_t bytes() const { return waiting.size() + being_written; }

    void write() {
        std::unique_lock lock(mutex);
        while (!broken) {
            changed.wait(lock, [this] { return ending || !waiting.empty(); });
            if (waiting.empty())
                return;
            const std::string text = std::exchange(waiting, {});
            being_written = text.size();
            lock.unlock();
            const bool written =
                std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
            lock.lock();
            being_written = 0;
            broken = !written;
            if (broken)
                waiting.clear();
            changed.notify_all();
        }
    }
};

OutputQueue::OutputQueue(std::FILE* stream) : state_(std::make_shared<State>()) {
    state_->stream = stream;
    thread_ = std::thread([state = state_] { state->write(); });
}

OutputQueue::~OutputQueue() {
    const bool written = flush(2.0);
    {
        const std::lock_guard lock(state_->mutex);
        state_->ending = true;
    }
    state_->changed.notify_all();
    if (written)
        thread_.join();
    else
        thread_.detach();
}

void OutputQueue::push(std::string_view text) {
    const std::lock_guard lock(state_->mutex);
    if (state_->broken)
        return;
    state_->waiting += text;
    state_->changed.notify_all();
}

std::size_t OutputQueue::waiting() const {
    const std::lock_guard lock(state_->mutex);
    return state_->bytes();
}

bool OutputQueue::flush(double seconds) {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait_for(lock, std::chrono::duration<double>(seconds),
                             [this] { return state_->broken || state_->bytes() == 0; });
    return state_->broken || state_->bytes() == 0;
}

} // namespace espalier
