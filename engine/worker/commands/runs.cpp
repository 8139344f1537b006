// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"
#include "base/text_width.h"
#include "io/exports.h"
#include "worker/commands/command.h"
#include "worker/console.h"
#include "worker/run_report.h"
#include "worker/run_summary.h"

namespace espalier::commands {
namespace {

std::string best_text(const RunSummary& run) {
    return run.best_accuracy ? "best " + Console::fixed(100 * *run.best_accuracy, 1) + " %" : "best -";
}

void print_table(const std::vector<RunSummary>& runs, const std::filesystem::path& root) {
    if (runs.empty())
        return print_line("No runs in " + root.string() + ".");
    for (const auto& run : runs) {
        print_line(
            padded(run.state, 12) +
            padded("epoch " + Console::fixed(run.epoch, 0) + (run.epochs > 0 ? "/" + std::to_string(run.epochs) : ""),
                   16) +
            padded(best_text(run), 14) + padded(Console::clock_text(run.seconds), 9) + padded(run.name, 20) + "  " +
            run.path);
        if (!run.reason.empty())
            print_line("            " + run.reason);
    }
}

} // namespace

void add_runs_command(CLI::App& app, Action& chosen) {
    struct Options {
        std::string root;
        bool json = false;
    };
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("runs", "List the runs, newest first");
    add_runs_root(*command, options->root);
    command->add_flag("--json", options->json, "One line of JSON");
    command->callback([options, &chosen] {
        chosen = [options] {
            const auto root = runs_root(options->root);
            if (options->json)
                print_json(answer_runs({}, {.runs_root = root}));
            else
                print_table(summarize_all(root), root);
            return 0;
        };
    });

    struct ReportOptions {
        std::string folder, out;
    };
    const auto report = std::make_shared<ReportOptions>();
    auto* reporting = app.add_subcommand("report", "Put what a report of a fault needs of a run into a zip");
    reporting->add_option("RUN_DIR", report->folder, "The run's folder")->required()->type_name("");
    reporting->add_option("--out", report->out, "The file to write [RUN-report.zip, here]; folders above it are made")
        ->type_name("FILE");
    reporting->callback([report, &chosen] {
        chosen = [report] {
            const RunFolder run(report->folder);
            const std::filesystem::path file = report->out.empty() ? report_name(run) : report->out;
            check_is_no_folder(file);
            const auto archive = run_report(run);
            for (const auto& folder : make_folders_above(file))
                print_line("Folder made: " + folder.string());
            write_file_atomically(file, archive);
            print_line("Written: " + file.string());
            return 0;
        };
    });
}

} // namespace espalier::commands
