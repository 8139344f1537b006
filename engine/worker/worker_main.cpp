// SPDX-License-Identifier: Apache-2.0
#include "worker/worker_main.h"

#include "train/trainer.h"
#include "worker/command_queue.h"
#include "worker/event_writer.h"
#include "worker/protocol.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#ifdef _WIN32
#include <io.h>
#include <process.h>
#else
#include <unistd.h>
#endif
#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace espalier {
namespace {

using namespace std::chrono_literals;

constexpr auto time_to_leave = 9s; // of the 10 that a worker may outlive its supervisor

std::atomic<bool> terminated = false;

/// Commands from stdin, and the wish of a SIGTERM.
class WorkerCommands : public CommandSource {
public:
    void push(Command command) { queue_.push(command); }
    std::optional<Command> poll() override { return terminated.exchange(false) ? Command::abandon : queue_.poll(); }
    std::optional<Command> wait(std::chrono::milliseconds limit) override {
        return terminated.exchange(false) ? Command::abandon : queue_.wait(limit);
    }

private:
    CommandQueue queue_;
};

void take_care_of_signals() {
    // Ctrl-C in a terminal reaches the worker too, but it is the supervisor's to decide.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, [](int) { terminated = true; });
#ifndef _WIN32
    std::signal(SIGPIPE, SIG_IGN);
#endif
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
}

bool write_to_stdout(std::string_view line) {
    return std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fflush(stdout) == 0;
}

long read_stdin(char* buffer, std::size_t size) {
#ifdef _WIN32
    return _read(0, buffer, static_cast<unsigned>(size));
#else
    return static_cast<long>(::read(STDIN_FILENO, buffer, size));
#endif
}

void read_commands(WorkerCommands& commands) {
    protocol::LineReader reader([&](const Json& message) {
        if (const auto command = command_named(protocol::text_at(message, "command")))
            commands.push(*command);
    });
    std::array<char, 4096> buffer;
    for (long count; (count = read_stdin(buffer.data(), buffer.size())) > 0;)
        reader.feed({buffer.data(), static_cast<std::size_t>(count)});
    commands.push(Command::abandon);
}

Json hello() {
    Json event = make_event("hello");
    event["protocol"] = protocol::version;
    event["build"] = ESPALIER_VERSION;
    event["capabilities"] = {"pause", "resume", "stop", "checkpoint"};
#ifdef _WIN32
    event["pid"] = _getpid();
#else
    event["pid"] = getpid();
#endif
    event["run"] = 1; // the supervisor, which counts the starts, puts its number here
    return event;
}

Json bye(const RunOutcome& outcome, std::chrono::steady_clock::time_point start) {
    Json event = make_event("bye");
    event["code"] = static_cast<int>(outcome.code);
    event["reason"] = outcome.reason;
    if (outcome.next) {
        event["next"] = outcome.next->to_json();
        event["next"]["set"] = outcome.next->set;
    }
    if (!outcome.blame.is_null())
        event["blame"] = outcome.blame;
    event["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return event;
}

} // namespace

int worker_main(const std::filesystem::path& run) {
    take_care_of_signals();
    const auto start = std::chrono::steady_clock::now();
    EventWriter writer(write_to_stdout);
    writer.send(hello());

    // The reader sits in a system call that nothing ends: it is left behind with what it needs.
    const auto commands = std::make_shared<WorkerCommands>();
    std::thread([commands] {
        read_commands(*commands);
        std::this_thread::sleep_for(time_to_leave);
        std::_Exit(static_cast<int>(ExitCode::failed)); // a step that takes longer than that is lost
    }).detach();

    // Before the device is let go of: what its driver makes of that is no part of how the run went.
    const auto outcome = train_run(run, writer, *commands, [&](const RunOutcome& ended) {
        writer.send(bye(ended, start));
        writer.close(5s);
    });
    return static_cast<int>(outcome.code);
}

} // namespace espalier
