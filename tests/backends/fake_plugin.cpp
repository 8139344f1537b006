// SPDX-License-Identifier: Apache-2.0
// A plug-in that pretends to be the GPU engine, for tests without a card. ESPALIER_FAKE_GPU says what happens in it:
// "cards" two cards, the second of them unusable; "crash" or "hang" as soon as it is asked; "crash at open" or "hang at
// open" when the library is opened; "crash later" or "hang later" only when a backend is made; "crash at end" or "hang
// at end" when it is let go of; "throw" where the cards are listed; "unkillable" a hang that outlives SIGKILL until the
// file ESPALIER_FAKE_GPU_HOLD is gone. What it computes is really computed, by the reference backend. What it is asked
// is written to the file that ESPALIER_FAKE_GPU_LOG names.
#include "backends/plugin.h"
#include "backends/reference/reference_backend.h"
#include "base/error.h"
#include "plan/forwarding_backend.h"
#include "unkillable.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
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

void misbehave(const std::string& when) {
    if (mode() == "crash" + when)
        std::raise(SIGSEGV);
    if (mode() == "unkillable" + when)
        test::become_unkillable(std::getenv("ESPALIER_FAKE_GPU_HOLD"), log);
    while (mode() == "hang" + when || mode() == "unkillable" + when)
        std::this_thread::sleep_for(std::chrono::seconds(1));
}

[[gnu::constructor]] void opened() { misbehave(" at open"); }

Support available(const BackendOptions& options) {
    log("asked for " + options.device);
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

class Pretended final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;
    ~Pretended() override { misbehave(" at end"); }
};

std::unique_ptr<Backend> make(const BackendOptions& options) {
    log("made for " + options.device);
    log("in " + std::to_string(getpid()));
    misbehave(" later");
    return std::make_unique<Pretended>(reference_backend().make(options));
}

BackendDefinition definition() { return {"cuda", "pretended GPU", 10, make, available, devices, {"fp16", "fp32"}}; }

} // namespace

extern "C" const BackendPlugin* espalier_backend_plugin() {
    static const BackendPlugin plugin{FAKE_ABI, FAKE_BUILD, &definition};
    return &plugin;
}
