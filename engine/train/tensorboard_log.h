// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

namespace espalier {

/// The scalars of a run for TensorBoard: loss/..., accuracy/... (train, validation, test), learning_rate, memory (MiB),
/// gflops. Each start of a worker writes a file of its own in the folder. Of a long run every Nth step stands there, N
/// chosen so that at most `most_steps` of the planned ones do; evaluations stand there all. Files are written in a
/// thread of their own.
class TensorBoardLog {
public:
    static constexpr std::int64_t most_steps = 10'000;

    /// Throws Error if the folder cannot be made.
    explicit TensorBoardLog(std::filesystem::path folder);
    /// Writes what waits.
    ~TensorBoardLog();
    TensorBoardLog(const TensorBoardLog&) = delete;
    TensorBoardLog& operator=(const TensorBoardLog&) = delete;

    /// Takes `plan`, `steps`, `evaluation`, `resources` and `superseded` events; leaves others alone. Does not block.
    void take(const Json& event);
    /// Why nothing is written any more, once; empty while all is well.
    [[nodiscard]] std::string take_fault();

private:
    void work();
    void write(const Json& event);
    void write_steps(const Json& event);
    void write_evaluation(const Json& event);
    void write_resources(const Json& event);
    void append(const std::string& message, double time);

    const std::filesystem::path folder_;
    std::ofstream file_;               ///< of the thread alone, as the next two
    std::int64_t distance_ = 1;        ///< of the steps that are written
    std::int64_t resources_step_ = -1; ///< that resources were written at

    std::mutex mutex_; ///< guards all that follows
    std::condition_variable wake_;
    std::deque<Json> waiting_;
    std::string fault_;
    bool broken_ = false, closing_ = false;
    std::thread thread_;
};

} // namespace espalier
