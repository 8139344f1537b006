// SPDX-License-Identifier: Apache-2.0
#include "worker/command_line.h"

#include "base/error.h"
#include "base/error_words.h"
#include "data/dataset.h"
#include "io/checkpoint_folder.h"
#include "io/run_folder.h"
#include "train/run_config.h"
#include "worker/commands/command.h"
#include "worker/interrupts.h"
#include "worker/protocol.h"

#include <cstdio>
#include <iostream>

namespace espalier {
namespace commands {

void ConfigOptions::add_to(CLI::App& app) {
    app.add_option("--preset", preset, "Name of a preset (see `presets`)");
    app.add_option("--config", config_file, "A run's configuration in JSON, laid over the preset");
    app.add_option("--data", data, "The data set, one of:\n" + dataset_specs_text());
    app.add_option("--set", set, "key=value, such as epochs=3 or optimizer.learning_rate=0.05; may be repeated");
}

Json ConfigOptions::config() const {
    if (preset.empty() && config_file.empty())
        throw ConfigError("Say what to train: --preset NAME, --config FILE, or both.");
    Json config = preset.empty() ? Json::object() : espalier::preset(preset);
    if (!config_file.empty()) {
        const auto file = read_json(config_file);
        config = preset.empty() ? whole_config(file) : merged(config, file);
    }
    if (!data.empty())
        config["data"] = data;
    for (const auto& assignment : set)
        set_by_path(config, assignment);
    if (config.contains("data") && config["data"].is_string())
        config["data"] = with_absolute_path(config["data"]);
    return config;
}

Json changes(const std::vector<std::string>& assignments) {
    Json json = Json::object();
    for (const auto& assignment : assignments)
        set_by_path(json, assignment);
    return json;
}

void add_runs_root(CLI::App& app, std::string& root) {
    app.add_option("--runs", root, "The folder of all runs, if not the usual one");
}

std::filesystem::path runs_root(const std::string& option) {
    return option.empty() ? default_runs_root() : std::filesystem::path(option);
}

std::filesystem::path checkpoint_file(const std::string& given) {
    const std::filesystem::path path = given;
    if (!std::filesystem::is_directory(path))
        return path;
    const CheckpointFolder folder(RunFolder(path).is_run() ? RunFolder(path).checkpoints() : path);
    for (const auto& file : {folder.best(), folder.last()})
        if (std::filesystem::exists(file))
            return file;
    throw CheckpointError("There is no checkpoint in " + path.string() + ".");
}

void print_json(const Json& json) {
    for (const auto& line : protocol::to_lines(json))
        std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

void print_line(const std::string& text) {
    std::puts(text.c_str());
    std::fflush(stdout);
}

} // namespace commands

namespace {

/// What stands where a command was expected; the library says only that one is missing. Empty if nothing does.
std::string unknown_command(const CLI::App& app) {
    for (const auto* chosen : app.get_subcommands()) {
        if (auto deeper = unknown_command(*chosen); !deeper.empty())
            return deeper;
    }
    const auto commands = app.get_subcommands([](const CLI::App* command) {
        return !command->get_group().empty(); // those without one are not for people
    });
    const auto words = app.remaining();
    if (commands.empty() || words.empty() || !app.get_subcommands().empty())
        return {};
    std::string names;
    for (const auto* command : commands)
        names += (names.empty() ? "" : ", ") + command->get_name();
    return "There is no command '" + words.front() + "'. There are: " + names + ".";
}

} // namespace

int run_command_line(int argc, char** argv) {
    CLI::App app("Espalier's engine: trains image networks, with or without a window.", "espalier-train");
    app.set_version_flag("--version", std::string(ESPALIER_VERSION));
    app.require_subcommand(1);
    commands::Action chosen;
    commands::add_run_commands(app, chosen);
    commands::add_attach_command(app, chosen);
    commands::add_runs_command(app, chosen);
    commands::add_data_commands(app, chosen);
    commands::add_checkpoint_commands(app, chosen);
    commands::add_machine_commands(app, chosen);
    commands::add_bench_command(app, chosen);
    commands::add_compare_command(app, chosen);
    commands::add_process_commands(app, chosen);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const bool misses = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
        if (const auto unknown = misses ? unknown_command(app) : std::string(); !unknown.empty()) {
            std::fprintf(stderr, "espalier-train: %s\n", unknown.c_str());
            return static_cast<int>(ExitCode::bad_configuration);
        }
        return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::bad_configuration);
    }
    Interrupts::ignore_lost_readers();
    try {
        return chosen();
    } catch (const Error& error) {
        std::fprintf(stderr, "espalier-train: %s\n", error.what());
        return static_cast<int>(error.code());
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "espalier-train: this machine's memory does not suffice.\n");
        return static_cast<int>(ExitCode::out_of_memory);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "espalier-train: %s\n", words_of(error).c_str());
        return static_cast<int>(ExitCode::failed);
    }
}

} // namespace espalier
