// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "worker/commands/command.h"
#include "worker/console.h"
#include "worker/interrupts.h"
#include "worker/output_queue.h"
#include "worker/run_follower.h"
#include "worker/terminal.h"

#include <QCoreApplication>
#include <algorithm>

namespace espalier::commands {
namespace {

/// The last steps of a table as an event: as many as a progress bar's means look back on.
Json tail_of(const ColumnTable& table) {
    constexpr std::size_t looked_back = 500;
    const auto from = table.rows - std::min(table.rows, looked_back);
    auto event = protocol::make_event("steps");
    event["step"] = table.step + static_cast<std::int64_t>(from);
    for (const auto& column : table.columns)
        for (auto row = from; row < table.rows; ++row)
            event[std::string(column.name)].push_back(ColumnTable::at<float>(column, row));
    return event;
}

int attach(const std::filesystem::path& run, bool json) {
    OutputQueue output(stdout);
    Console console([&](std::string_view text) { output.push(text); }, is_terminal(stdout), terminal_columns());
    int code = static_cast<int>(ExitCode::failed); // without a bye the run was interrupted
    std::optional<Json> last_steps;                // of the past: shown when it has been read
    RunFollower::Handlers handlers;
    handlers.line = [&](std::string_view line) {
        if (json) {
            output.push(line);
            output.push("\n");
        }
        const auto event = protocol::parse_line(line);
        if (!event)
            return;
        if (protocol::is_event(*event, "bye"))
            code = static_cast<int>(protocol::whole_at(*event, "code", 1));
        else if (protocol::is_event(*event, "hello"))
            code = static_cast<int>(ExitCode::failed);
        if (!json)
            console.show(*event);
    };
    if (!json) { // who wants all events as they are wants their lines
        handlers.table = [&](const ColumnTable& table) {
            if (table.kind == ColumnTable::Kind::steps)
                last_steps = tail_of(table);
        };
        handlers.making = [&](double share) { console.show_reading(share); };
    }
    handlers.caught_up = [&] {
        if (last_steps)
            console.show(*last_steps);
    };
    handlers.ended = [&] { QCoreApplication::exit(code); };
    handlers.room = [&] { return output.waiting() < 4 * 1024 * 1024; };
    RunFollower follower(run, std::move(handlers));
    // Leaving ends the attachment, never the run.
    const auto leave = [] { QCoreApplication::exit(0); };
    const Interrupts watch({leave, leave});
    const int result = QCoreApplication::exec();
    console.finish();
    return result;
}

} // namespace

void add_attach_command(CLI::App& app, Action& chosen) {
    struct Options {
        std::string folder;
        bool json = false;
    };
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("attach", "Watch a run: all its events so far, then live");
    command->add_option("RUN_DIR", options->folder, "The run's folder")->required()->type_name("");
    command->add_flag("--json", options->json, "Print the protocol's events, one a line");
    command->callback([options, &chosen] {
        chosen = [options] { return attach(std::filesystem::absolute(options->folder), options->json); };
    });
}

} // namespace espalier::commands
