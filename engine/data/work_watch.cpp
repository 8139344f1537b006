// SPDX-License-Identifier: Apache-2.0
#include "data/work_watch.h"

#include "base/error.h"
#include "base/threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace espalier {
namespace {

constexpr std::size_t chunk_images = 500;
constexpr auto telling_distance = std::chrono::milliseconds(250);
constexpr auto question_distance = std::chrono::milliseconds(20);

/// The threads of one chunk and what they share.
class Chunk {
public:
    Chunk(std::size_t begin, std::size_t end, const std::function<void(std::size_t)>& work)
        : begin_(begin), next_(begin), end_(end), work_(work) {}
    ~Chunk() {
        next_ = end_; // whoever leaves early lets the threads finish the image that they are at
        for (auto& thread : threads_)
            thread.join();
    }
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;

    void run(const WorkWatch& watch, std::size_t total) {
        const auto count = std::min(static_cast<std::size_t>(usable_threads()), end_ - next_.load());
        running_ = count;
        for (std::size_t i = 0; i < count; ++i)
            threads_.emplace_back([this] { take_images(); });
        std::unique_lock lock(mutex_);
        while (!finished_.wait_for(lock, question_distance, [&] { return running_ == 0; })) {
            lock.unlock();
            watch.check();
            if (const auto now = std::chrono::steady_clock::now(); watch.progress && now >= next_telling_) {
                const auto begun = std::min(next_.load(), end_);
                watch.progress(std::max(begin_ + count, begun) - count, total); // each thread is at one of them
                next_telling_ = now + telling_distance;
            }
            lock.lock();
        }
        if (error_)
            std::rethrow_exception(error_);
    }

private:
    void take_images() {
        std::exception_ptr error;
        try {
            for (auto i = next_++; i < end_; i = next_++)
                work_(i);
        } catch (...) {
            error = std::current_exception();
            next_ = end_;
        }
        const std::lock_guard lock(mutex_);
        if (error && !error_)
            error_ = error;
        if (--running_ == 0)
            finished_.notify_all();
    }

    const std::size_t begin_;
    std::atomic<std::size_t> next_;
    const std::size_t end_;
    const std::function<void(std::size_t)>& work_;
    std::mutex mutex_; ///< guards what follows
    std::condition_variable finished_;
    std::chrono::steady_clock::time_point next_telling_ = std::chrono::steady_clock::now() + telling_distance;
    std::size_t running_ = 0;
    std::exception_ptr error_;
    std::vector<std::thread> threads_;
};

} // namespace

void WorkWatch::check() const {
    if (leave && leave())
        throw Error("The reading of the images was stopped.", ExitCode::stopped);
}

void for_each_image(std::size_t count, const WorkWatch& watch, const std::function<void(std::size_t)>& work) {
    for (std::size_t begin = 0; begin < count; begin += chunk_images) {
        watch.check();
        if (watch.progress)
            watch.progress(begin, count);
        watch.check();
        Chunk(begin, std::min(count, begin + chunk_images), work).run(watch, count);
    }
    if (watch.progress)
        watch.progress(count, count);
}

} // namespace espalier
