// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>
#endif

#include <chrono>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

namespace espalier::test {

/// As a process deep in a driver's call: killed, it is not gone for its parent until the file `hold` is. Because a dead
/// thread that another process traces stays until that one lets go of it, and the dead process with it. `tell` hears
/// "held", or "cannot be held" where the system lets no process trace another.
template <class Tell>
void become_unkillable([[maybe_unused]] const std::string& hold, Tell&& tell) {
#ifndef __linux__
    tell("cannot be held");
#else
    std::promise<pid_t> started;
    std::thread([&started] {
        started.set_value(gettid());
        std::this_thread::sleep_for(std::chrono::hours(1));
    }).detach();
    const pid_t thread = started.get_future().get();
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    if (fork() != 0)
        return;
    tell(ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0 ? "held" : "cannot be held");
    while (std::filesystem::exists(hold))
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    _exit(0);
#endif
}

} // namespace espalier::test
