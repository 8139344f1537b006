// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "worker/requests.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace espalier::commands {

/// What the chosen subcommand does; returns the exit code.
using Action = std::function<int()>;

// Each adds its subcommands and sets `chosen` when one of them is named.
void add_machine_commands(CLI::App& app, Action& chosen);    ///< probe, presets
void add_run_commands(CLI::App& app, Action& chosen);        ///< run, resume, supervise
void add_attach_command(CLI::App& app, Action& chosen);      ///< attach
void add_runs_command(CLI::App& app, Action& chosen);        ///< runs, report
void add_data_commands(CLI::App& app, Action& chosen);       ///< scan, plan
void add_checkpoint_commands(CLI::App& app, Action& chosen); ///< eval, predict, export
void add_compare_command(CLI::App& app, Action& chosen);     ///< compare
void add_bench_command(CLI::App& app, Action& chosen);       ///< bench
void add_process_commands(CLI::App& app, Action& chosen);    ///< serve, worker

/// All of them: the whole command line.
void add_all_commands(CLI::App& app, Action& chosen);

/// The options that say what to train, shared by `run` and `plan`.
struct ConfigOptions {
    std::string preset, config_file, network_file, data;
    std::vector<std::string> set;

    void add_to(CLI::App& app);
    /// The configuration they mean. Throws ConfigError.
    [[nodiscard]] Json config() const;
};
/// `--set key=value` as changes to a configuration.
[[nodiscard]] Json changes(const std::vector<std::string>& assignments);

/// For options that take a number: refuses what is none, or lies outside of `least` to `most`, in a sentence. (That of
/// the library lets NaN pass.)
[[nodiscard]] CLI::Validator number_within(double least, double most);

/// Adds `--runs FOLDER`, the folder of all runs.
void add_runs_root(CLI::App& app, std::string& root);
/// Throws ConfigError if it is a file.
[[nodiscard]] std::filesystem::path runs_root(const std::string& option);

/// A checkpoint's file as given; for a run's folder its best one, or the last. Throws ConfigError if there is none.
[[nodiscard]] std::filesystem::path checkpoint_file(const std::string& given);

/// The answer to a request that may touch a device, from a child: a driver that crashes is an error in a sentence.
[[nodiscard]] Json answer_of_child(const std::string& request, const Json& arguments);

/// To stdout, as one line or lines of the protocol.
void print_json(const Json& json);
void print_line(const std::string& text);
/// To stderr, as the program's word.
void print_error(std::string text);

} // namespace espalier::commands
