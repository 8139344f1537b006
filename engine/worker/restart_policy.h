// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace espalier {

/// How a worker went.
struct WorkerDeath {
    std::optional<int> bye;      ///< the code of its `bye` event: it went on its own accord
    bool wants_change = false;   ///< and said with what other settings the run can go on
    bool crashed = false;        ///< ended by a signal
    int exit_code = 0;           ///< or the signal's number
    bool hung = false;           ///< the supervisor ended it, because it made no progress
    bool sent_away = false;      ///< its `bye` says that it was interrupted: it heeded a SIGTERM
    std::int64_t step = 0;       ///< furthest step it reported; 0: none
    std::string reason;          ///< of its `bye`
    std::string last_words;      ///< last line of its error channel
    bool memory_ran_out = false; ///< the system has lately ended a process for want of memory
    bool safe_mode = false;      ///< it ran in safe mode
    bool on_cpu = false;         ///< it ran on the CPU
};

/// What the supervisor does about it.
struct Decision {
    enum class Kind { end, restart, restart_changed, restart_in_safe_mode, restart_on_cpu };
    Kind kind = Kind::end;
    std::chrono::milliseconds delay{0}; ///< before a restart
    int code = 0;                       ///< of the run, if it ends
    std::string reason;                 ///< one sentence for the user
};

/// The ladder of restarts. A worker that says bye is believed, except for a device fault (code 4): that is answered
/// with safe mode, then with the CPU, as far as it did not run so already; an hour without one is forgiven. One that
/// made no progress counts as a device fault too, also if it came to its senses when it was sent away. A worker that
/// asks for other settings gets them. One that is killed or crashes is started again, ever more slowly, as long as
/// steps are taken between deaths. One that crashes on a device again and again without a step is taken for a fault of
/// the device's: its driver may do that.
class RestartPolicy {
public:
    using Clock = std::chrono::steady_clock;
    struct Limits {
        std::chrono::milliseconds first_delay{1000};
        std::chrono::milliseconds longest_delay{60000};
        int deaths_without_progress = 3;
        int changes_without_progress = 12; ///< more than a batch can be halved
        std::chrono::minutes forgiven_after{60};
    };

    RestartPolicy() = default;
    explicit RestartPolicy(Limits limits) : limits_(limits) {}

    [[nodiscard]] Decision decide(const WorkerDeath& death, Clock::time_point now);

private:
    [[nodiscard]] Decision after_device_fault(const WorkerDeath& death, const std::string& reason,
                                              Clock::time_point now);

    Limits limits_;
    int idle_deaths_ = 0; ///< deaths in a row without a step further than before
    std::int64_t furthest_step_ = 0;
    int idle_changes_ = 0; ///< changed settings in a row without a step further than before
    int device_faults_ = 0;
    Clock::time_point last_device_fault_{};
};

/// "The worker was killed by the system, because memory ran out.", "The worker ended with code 1 without a word. Its
/// last message: <last words>".
[[nodiscard]] std::string describe(const WorkerDeath& death);

} // namespace espalier
