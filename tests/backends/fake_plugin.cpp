// SPDX-License-Identifier: Apache-2.0
// A plug-in that pretends to be the GPU engine, for tests without a card. ESPALIER_FAKE_GPU says what happens in it:
// "cards" two cards, the second of them unusable; "crash" or "hang" as soon as it is asked; "crash later" or "hang
// later" only when a backend is made; "throw" where the cards are listed; "unkillable" a hang that outlives SIGKILL
// until the file ESPALIER_FAKE_GPU_HOLD is gone. What it computes is really computed, by the reference backend. What it
// is asked is written to the file that ESPALIER_FAKE_GPU_LOG names.
#include "backends/plugin.h"
#include "backends/reference/reference_backend.h"
#include "base/error.h"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#ifndef FAKE_ABI
#define FAKE_ABI espalier::plugin_abi
#endif
#ifndef FAKE_BUILD
#define FAKE_BUILD ESPALIER_PLUGIN_BUILD
#endif

namespace {

using namespace espalier;

std::string mode() {
    const char* value = std::getenv("ESPALIER_FAKE_GPU");
    return value != nullptr ? value : "cards";
}

void log(const std::string& line) {
    if (const char* file = std::getenv("ESPALIER_FAKE_GPU_LOG"))
        std::ofstream(file, std::ios::app) << line << '\n';
}

/// As a process deep in a driver's call: killed, it is not gone for its parent. Here because a dead thread that another
/// process traces stays until that one lets go of it, and the dead process with it.
void become_unkillable() {
    std::promise<pid_t> started;
    std::thread([&started] {
        started.set_value(gettid());
        std::this_thread::sleep_for(std::chrono::hours(1));
    }).detach();
    const pid_t thread = started.get_future().get();
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    if (fork() != 0)
        return;
    log(ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0 ? "held" : "cannot be held");
    while (std::filesystem::exists(std::getenv("ESPALIER_FAKE_GPU_HOLD")))
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    _exit(0);
}

void misbehave(const std::string& when) {
    if (mode() == "crash" + when)
        std::raise(SIGSEGV);
    if (mode() == "unkillable" + when)
        become_unkillable();
    while (mode() == "hang" + when || mode() == "unkillable" + when)
        std::this_thread::sleep_for(std::chrono::seconds(1));
}

Support available(const BackendOptions&) {
    log("asked");
    misbehave("");
    return {};
}

std::vector<DeviceDescription> devices() {
    if (mode() == "throw")
        throw DeviceError("The pretended driver failed.");
    return {{.name = "Pretended 1",
             .uuid = "GPU-11111111-1111",
             .compute_capability = "9.0",
             .driver = "580.95.05",
             .library = "cuDNN 9.19.0",
             .memory_bytes = std::size_t{8} << 30,
             .free_bytes = std::size_t{7} << 30},
            {.name = "Pretended 2", .uuid = "GPU-22222222-2222", .usable = Support::no("Pretended 2 is too old.")}};
}

std::unique_ptr<Backend> make(const BackendOptions& options) {
    log("made for " + options.device);
    log("in " + std::to_string(getpid()));
    misbehave(" later");
    return reference_backend().make(options);
}

BackendDefinition definition() { return {"cuda", "pretended GPU", 10, make, available, devices, {"fp16", "fp32"}}; }

} // namespace

extern "C" const BackendPlugin* espalier_backend_plugin() {
    static const BackendPlugin plugin{FAKE_ABI, FAKE_BUILD, &definition};
    return &plugin;
}
