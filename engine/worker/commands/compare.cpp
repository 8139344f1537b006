// SPDX-License-Identifier: Apache-2.0
#include "worker/commands/command.h"
#include "worker/console.h"
#include "worker/run_comparison.h"

namespace espalier::commands {
namespace {

struct CompareOptions {
    std::string a, b;
    bool json = false;
};

std::string text_of(const Json& difference, const char* side) {
    if (!difference.contains(side))
        return "(not there)";
    const auto& value = difference[side];
    return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void print_differences(const char* what, const Json& list) {
    if (list.empty())
        return print_line(std::string(what) + ": no difference");
    print_line(std::string(what) + ":");
    for (const auto& difference : list)
        print_line("  " + difference.at("key").get<std::string>() + ": " + text_of(difference, "a") + " -> " +
                   text_of(difference, "b"));
}

/// `rows` of metrics.csv are the same, all of them or those before a step.
std::string metrics_sentence(std::int64_t rows, const Json& first_difference) {
    const bool all = first_difference.is_null();
    if (all && rows == 0)
        return "Neither run has rows in metrics.csv to compare.";
    const auto differs =
        all ? "." : "; step " + Console::count_text(first_difference.get<std::int64_t>()) + " differs.";
    if (rows == 0)
        return "No row of metrics.csv is the same" + differs;
    if (rows == 1)
        return (all ? "The only row" : "The first row") + (" of metrics.csv is the same" + differs);
    return (all ? "All " : "The first ") + Console::count_text(rows) + " rows of metrics.csv are the same" + differs;
}

int compare(const CompareOptions& options) {
    const auto found = compare_runs(RunFolder(options.a), RunFolder(options.b));
    if (options.json) {
        print_json(found);
        return 0;
    }
    print_differences("Configuration", found.at("config"));
    print_differences("Passport", found.at("passport"));
    const auto& exact = found.at("bit_exact");
    print_line(std::string("The same bits are ") + (exact.at("expected") ? "" : "not ") +
               "expected: " + exact.at("reason").get<std::string>());
    const auto& metrics = found.at("metrics");
    print_line(metrics_sentence(metrics.at("rows").get<std::int64_t>(), metrics.at("first_difference")));
    return 0;
}

} // namespace

void add_compare_command(CLI::App& app, Action& chosen) {
    const auto options = std::make_shared<CompareOptions>();
    auto* command = app.add_subcommand("compare", "What differs between two runs: configuration, passport, results");
    command->add_option("RUN_A", options->a, "A run's folder")->required()->type_name("");
    command->add_option("RUN_B", options->b, "Another run's folder")->required()->type_name("");
    command->add_flag("--json", options->json, "One line of JSON");
    command->callback([options, &chosen] { chosen = [options] { return compare(*options); }; });
}

} // namespace espalier::commands
