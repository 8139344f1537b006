// SPDX-License-Identifier: Apache-2.0
#include "worker/child_request.h"
#include "worker/commands/command.h"
#include "worker/interrupts.h"
#include "worker/output_queue.h"
#include "worker/server.h"
#include "worker/terminal.h"
#include "worker/worker_main.h"

#include <QCoreApplication>
#include <thread>

namespace espalier::commands {
namespace {

/// Until stdin ends: that is the window's death signal. Runs go on.
int serve(const std::filesystem::path& root, ChildPatience patience) {
    set_binary_streams();
    OutputQueue output(stdout);
    Server server(output, root, patience);
    server.greet();
    protocol::LineReader reader([&](const Json& message) { server.take(message); });
    QObject receiver;
    const auto in_event_loop = [&](auto work) { QMetaObject::invokeMethod(&receiver, work, Qt::QueuedConnection); };
    // stdin is read in a thread: a blocking read is the one way that works for pipes, sockets and consoles everywhere.
    std::thread input([&] {
        std::string block(64 * 1024, '\0');
        while (const auto count = read_input(block.data(), block.size()))
            in_event_loop([&reader, bytes = block.substr(0, count)] { reader.feed(bytes); });
        in_event_loop([&reader] {
            reader.finish();
            QCoreApplication::quit();
        });
    });
    const int code = QCoreApplication::exec();
    input.join();
    return code;
}

} // namespace

void add_process_commands(CLI::App& app, Action& chosen) {
    const auto root = std::make_shared<std::string>();
    auto* command = app.add_subcommand("serve", "Answer a window's requests on stdin and stdout");
    add_runs_root(*command, *root);
    const auto seconds = std::make_shared<double>(60);
    command->add_option("--probe-seconds", *seconds, "How long the devices may take to answer")
        ->type_name("SECONDS")
        ->check(number_within(0.1, 3600.0));
    command->callback([root, seconds, &chosen] {
        chosen = [root, seconds] {
            const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1e3));
            return serve(runs_root(*root), {.probe = limit, .plan = 5 * limit});
        };
    });
    auto* answer = app.add_subcommand("answer", "Answer requests from stdin; serve starts it");
    answer->group(""); // not for people: --help leaves it out
    answer->callback([&chosen] { chosen = []() -> int { answer_requests(); }; });

    const auto folder = std::make_shared<std::string>();
    auto* worker = app.add_subcommand("worker", "Train a run in this process; its supervisor starts it");
    worker->group("");
    worker->add_option("RUN_DIR", *folder, "The run's folder")->required()->type_name("");
    worker->callback([folder, &chosen] { chosen = [folder] { return worker_main(*folder); }; });
}

} // namespace espalier::commands
