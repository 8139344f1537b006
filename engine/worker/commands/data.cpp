// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/scan.h"
#include "worker/commands/command.h"

namespace espalier::commands {

void add_data_commands(CLI::App& app, Action& chosen) {
    struct Options {
        std::string data;
        bool json = false;
    };
    const auto options = std::make_shared<Options>();
    auto* scan = app.add_subcommand("scan", "Read a whole data set and report every bad file, class counts and sizes");
    scan->add_option("SPEC", options->data, "builtin, fashion-mnist, idx:DIR, synthetic:CxHxW,classes,count")
        ->required();
    scan->add_flag("--json", options->json, "One line of JSON");
    scan->callback([options, &chosen] {
        chosen = [options] {
            const auto report = scan_dataset(options->data);
            if (options->json)
                print_json(report.to_json());
            else
                print_line(report.to_text());
            return static_cast<int>(report.total() > 0 ? ExitCode::done : ExitCode::bad_data);
        };
    });
}

} // namespace espalier::commands
