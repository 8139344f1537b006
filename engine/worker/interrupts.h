// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace espalier {

/// Brings the system's requests to leave into the event loop. A lost terminal (SIGHUP) or reader (SIGPIPE) ends
/// nothing. One at a time.
class Interrupts {
public:
    struct Handlers {
        std::function<void()> interrupt; ///< Ctrl-C
        std::function<void()> terminate; ///< the log-off, `kill`
    };
    explicit Interrupts(Handlers handlers);
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    /// For programs without an event loop to leave: writing to a reader that has gone is an error, no death.
    static void ignore_lost_readers();

    struct State; ///< the system's side

private:
    State* state_;
};

} // namespace espalier
