// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>

namespace espalier {

/// Writes to a stream from a thread of its own, so that a reader who does not read never holds up those who write.
class OutputQueue {
public:
    explicit OutputQueue(std::FILE* stream);
    /// Writes what waits; gives up if the reader does not take it within two seconds.
    ~OutputQueue();
    OutputQueue(const OutputQueue&) = delete;
    OutputQueue& operator=(const OutputQueue&) = delete;

    void push(std::string_view text);
    /// Bytes that wait.
    [[nodiscard]] std::size_t waiting() const;
    /// Waits until all is written; false if it takes longer than `seconds` or the reader has gone.
    bool flush(double seconds);

private:
    struct State;
    std::shared_ptr<State> state_; ///< the thread's too: it may outlive this if its reader never reads
    std::thread thread_;
};

} // namespace espalier
