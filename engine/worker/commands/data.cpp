// SPDX-License-Identifier: Apache-2.0
#include "base/counted.h"
#include "base/error.h"
#include "data/dataset.h"
#include "data/scan.h"
#include "worker/commands/command.h"
#include "worker/console.h"
#include "worker/protocol.h"

#include <cstdio>

namespace espalier::commands {
namespace {

using protocol::number_at;

void print_plan(const Json& plan) {
    const auto& memory = plan.at("memory");
    const auto bytes = [&](const char* key) { return Console::bytes_text(number_at(memory, key)); };
    const auto count = [&](const char* key, const char* of_one) {
        return Console::count_text(protocol::whole_at(plan, key), of_one);
    };
    print_line(count("parameters", "parameter") + " in " + counted(plan.at("layers").size(), "layer"));
    print_line(Console::fixed(number_at(plan, "flops") / 1e9, 2) + " GFLOP a step, forward and backward");
    print_line("Memory: " + bytes("total") + " (weights " + bytes("weights") + ", optimizer " + bytes("optimizer") +
               ", activations " + bytes("activations") + ", workspace " + bytes("workspace") + ") of " +
               Console::bytes_text(number_at(plan, "limit")));
    const auto batch = std::to_string(protocol::whole_at(plan, "batch"));
    const auto most = "at most about " + count("largest_batch", "image");
    print_line((plan.at("fits") ? "Batch " + batch + " fits; " + most + ". "
                                : "As asked for it does not fit (" + most +
                                      " would); changed as told below it runs in batches of " + batch + ". ") +
               count("epochs", "epoch") + " of " + count("steps_per_epoch", "step") + " on " +
               plan.at("device").get<std::string>() + ".");
    for (const auto& warning : plan.at("warnings"))
        print_line("Warning: " + warning.get<std::string>());
    for (const auto& note : plan.at("notes"))
        print_line("Note: " + note.get<std::string>());
}

} // namespace

void add_data_commands(CLI::App& app, Action& chosen) {
    struct Options {
        std::string data;
        bool json = false;
    };
    const auto options = std::make_shared<Options>();
    auto* scan = app.add_subcommand("scan", "Read a whole data set and report every bad file, class counts and sizes");
    scan->add_option("SPEC", options->data, "The data set, one of:\n" + dataset_specs_text())
        ->required()
        ->type_name("");
    scan->add_flag("--json", options->json, "One line of JSON");
    scan->callback([options, &chosen] {
        chosen = [options] {
            const auto report = scan_dataset(options->data);
            if (options->json)
                print_json(report.to_json());
            else
                std::fputs(report.to_text().c_str(), stdout);
            return static_cast<int>(report.total() > 0 && report.bad.empty() ? ExitCode::done : ExitCode::bad_data);
        };
    });

    const auto config = std::make_shared<ConfigOptions>();
    auto* plan =
        app.add_subcommand("plan", "The fit check: parameters, layers, FLOPs and exact memory, without training");
    config->add_to(*plan);
    plan->add_flag("--json", options->json, "One line of JSON");
    plan->callback([options, config, &chosen] {
        chosen = [options, config] {
            const auto answer = answer_of_child("plan", {{"config", config->config()}});
            if (options->json)
                print_json(answer);
            else
                print_plan(answer);
            return 0;
        };
    });
}

} // namespace espalier::commands
