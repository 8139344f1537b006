// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "worker/answer_children.h"
#include "worker/child_request.h"
#include "worker/commands/command.h"
#include "worker/console.h"
#include "worker/interrupts.h"
#include "worker/output_queue.h"
#include "worker/run_launcher.h"
#include "worker/supervisor.h"
#include "worker/terminal.h"

#include <QCoreApplication>

namespace espalier::commands {
namespace {

constexpr const char* queue_help = "Wait until no other run of the folder of all runs trains or waits before it";

enum class Show { bars, lines, nothing };

/// This process is the run's supervisor until the run has ended.
int supervise(const RunFolder& run, bool queue, Show show) {
    OutputQueue output(stdout);
    Console console([&](std::string_view text) { output.push(text); }, is_terminal(stdout), terminal_columns());
    const auto print = [&](const Json& event) {
        if (show == Show::bars)
            console.show(event);
        else if (show == Show::lines)
            for (const auto& line : protocol::to_lines(event))
                output.push(line);
    };
    auto settings = Supervisor::default_settings(run.path());
    settings.queue = queue;
    Supervisor supervisor(run.path(), std::move(settings), {print, [](int code) { QCoreApplication::exit(code); }});

    int interrupts = 0;
    const Interrupts watch({[&] {
                                if (++interrupts > 1)
                                    return supervisor.stop_at_once();
                                if (show == Show::bars) {
                                    console.finish();
                                    output.push("Stopping. Ctrl-C again stops at once.\n");
                                }
                                supervisor.command("stop");
                            },
                            [&] { supervisor.leave(); }});
    supervisor.start();
    const int code = QCoreApplication::exec();
    console.finish();
    return code;
}

/// Asks a child, which has let go of the device before the run's worker comes.
void check_machine(const RunConfig& config) { AnswerChildren().check_machine(config, {}, {}); }

Show how_to_show(bool json) { return json ? Show::lines : Show::bars; }

/// To people on stdout, beside protocol lines on stderr.
void tell(const std::string& line, bool json) {
    std::fprintf(json ? stderr : stdout, "%s\n", line.c_str());
    std::fflush(json ? stderr : stdout);
}

/// Where the run is kept.
void tell_folder(const RunFolder& run, bool json) { tell("Run folder: " + run.path().string(), json); }

/// Whether another configuration or other data is what it takes, not another try.
bool is_refusal(int code) {
    const auto why = static_cast<ExitCode>(code);
    return why == ExitCode::bad_configuration || why == ExitCode::bad_data || why == ExitCode::out_of_memory;
}

} // namespace

void add_run_commands(CLI::App& app, Action& chosen) {
    struct Options {
        ConfigOptions config;
        std::string out, name, runs, folder, checkpoint;
        std::vector<std::string> set;
        bool json = false, queue = false;
    };
    const auto options = std::make_shared<Options>();

    auto* run = app.add_subcommand("run", "Train a network in a new run folder");
    options->config.add_to(*run);
    auto* out = run->add_option("--out", options->out,
                                "The run's folder (new or empty); usually one is made in the folder of all runs")
                    ->type_name("FOLDER");
    run->add_flag("--queue", options->queue, queue_help)->excludes(out);
    run->add_option("--name", options->name, "The run's name")->type_name("NAME");
    add_runs_root(*run, options->runs);
    run->add_flag("--json", options->json, "Print the protocol's events, one a line");
    run->callback([options, &chosen] {
        chosen = [options] {
            auto config = options->config.config();
            if (!options->name.empty())
                config["name"] = options->name;
            const auto folder = prepare_run(config, begin_of(options->queue), check_machine,
                                            options->out.empty() ? runs_root(options->runs) : "", options->out);
            tell_folder(folder, options->json);
            const int code = supervise(folder, options->queue, how_to_show(options->json));
            if (!options->queue && is_refusal(code) && remove_if_never_begun(folder))
                tell("Nothing was trained: the run's folder is removed.", options->json);
            return code;
        };
    });

    auto* resume = app.add_subcommand("resume", "Go on with a run from its newest checkpoint, or from another one");
    resume->add_option("RUN_DIR", options->folder, "The run's folder")->required()->type_name("");
    resume->add_option("--set", options->set, "A setting, such as epochs=20; may be repeated")->type_name("key=value");
    resume
        ->add_option("--checkpoint", options->checkpoint,
                     "Where to go on from: best, last, a step's number, or a file's name in checkpoints/")
        ->type_name("NAME");
    resume->add_flag("--queue", options->queue, queue_help);
    resume->add_flag("--json", options->json, "Print the protocol's events, one a line");
    resume->callback([options, &chosen] {
        chosen = [options] {
            const RunFolder folder(std::filesystem::absolute(options->folder));
            prepare_resume(folder, changes(options->set), begin_of(options->queue), check_machine, options->checkpoint);
            return supervise(folder, options->queue, how_to_show(options->json));
        };
    });

    // How `serve` starts a run that outlives it.
    auto* detached = app.add_subcommand("supervise", "")->group("");
    detached->add_option("RUN_DIR", options->folder)->required();
    detached->add_flag("--queue", options->queue);
    detached->callback([options, &chosen] {
        chosen = [options] { return supervise(RunFolder(options->folder), options->queue, Show::nothing); };
    });
}

} // namespace espalier::commands
