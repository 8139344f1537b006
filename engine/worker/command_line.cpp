// SPDX-License-Identifier: Apache-2.0
#include "worker/command_line.h"

#include "base/error.h"
#include "base/error_words.h"
#include "data/dataset.h"
#include "io/checkpoint_folder.h"
#include "io/run_folder.h"
#include "train/run_config.h"
#include "worker/answer_children.h"
#include "worker/commands/command.h"
#include "worker/interrupts.h"
#include "worker/protocol.h"

#include <cstdio>
#include <iostream>

namespace espalier {
namespace commands {
namespace {

/// That of the library, which the help does not name once more behind the value.
CLI::Validator existing_file() {
    CLI::Validator check = CLI::ExistingFile;
    return check.description("");
}

Json network_in(const std::string& file) {
    const auto json = read_json(file);
    try {
        return NetworkSpec::from_json(json).to_json();
    } catch (const ConfigError& error) {
        throw ConfigError("'" + file +
                          "' holds no network as `espalier-train export --format network` writes it: " + error.what());
    }
}

} // namespace

void ConfigOptions::add_to(CLI::App& app) {
    app.add_option("--preset", preset, "A preset, as `presets` lists them")->type_name("NAME");
    app.add_option("--config", config_file, "A run's configuration in JSON, laid over the preset")
        ->type_name("FILE")
        ->check(existing_file());
    app.add_option("--network", network_file, "A network in JSON, as `export --format network` writes it")
        ->type_name("FILE")
        ->check(existing_file());
    app.add_option("--data", data, "The data set, one of:\n" + dataset_specs_text())->type_name("SPEC");
    app.add_option("--set", set, "A setting, such as epochs=3 or optimizer.learning_rate=0.05; may be repeated")
        ->type_name("key=value");
}

Json ConfigOptions::config() const {
    if (preset.empty() && config_file.empty() && network_file.empty())
        throw ConfigError("Say what to train: --preset NAME, --config FILE, --network FILE, or several of them. "
                          "`espalier-train presets` lists the presets.");
    Json config = preset.empty() ? Json::object() : espalier::preset(preset);
    if (!config_file.empty()) {
        const auto file = read_json(config_file);
        if (!file.is_object())
            throw ConfigError("'" + config_file +
                              "' holds no configuration: an object was expected, such as {\"preset\": \"quick\", "
                              "\"epochs\": 5}; this came: " +
                              file.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 80));
        config = preset.empty() ? whole_config(file) : merged(config, file);
    }
    if (!network_file.empty())
        config["network"] = network_in(network_file);
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

CLI::Validator number_within(double least, double most) {
    const auto check = [least, most](const std::string& text) -> std::string {
        double number = 0;
        if (CLI::detail::lexical_cast(text, number) && number >= least && number <= most)
            return {};
        return "a number from " + CLI::detail::to_string(least) + " to " + CLI::detail::to_string(most) +
               " was expected; this came: '" + text + "'";
    };
    return {check, ""};
}

void add_runs_root(CLI::App& app, std::string& root) {
    app.add_option("--runs", root, "The folder of all runs, if not the usual one")->type_name("FOLDER");
}

std::filesystem::path runs_root(const std::string& option) {
    auto root = option.empty() ? default_runs_root() : std::filesystem::path(option);
    std::error_code ignored;
    if (std::filesystem::exists(root, ignored) && !std::filesystem::is_directory(root, ignored))
        throw ConfigError("'" + root.string() + "' is a file, but the folder of all runs was expected" +
                          (option.empty() ? " (ESPALIER_RUNS says where it is)." : "."));
    return root;
}

std::filesystem::path checkpoint_file(const std::string& given) {
    const std::filesystem::path path = given;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        throw ConfigError("There is no '" + given + "'. The folder of a run was expected, or a checkpoint's file.");
    if (!std::filesystem::is_directory(path, ignored))
        return path;
    const CheckpointFolder folder(RunFolder(path).is_run() ? RunFolder(path).checkpoints() : path);
    for (const auto& file : {folder.best(), folder.last()})
        if (std::filesystem::exists(file))
            return file;
    throw ConfigError("There is no checkpoint in " + path.string() +
                      ". The folder of a run was expected that has written one, or a checkpoint's file.");
}

Json answer_of_child(const std::string& request, const Json& arguments) {
    return AnswerChildren().answer(request, arguments, {});
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

void add_all_commands(CLI::App& app, Action& chosen) {
    app.set_version_flag("--version", std::string(ESPALIER_VERSION));
    app.require_subcommand(1);
    add_run_commands(app, chosen);
    add_attach_command(app, chosen);
    add_runs_command(app, chosen);
    add_data_commands(app, chosen);
    add_checkpoint_commands(app, chosen);
    add_machine_commands(app, chosen);
    add_bench_command(app, chosen);
    add_compare_command(app, chosen);
    add_process_commands(app, chosen);
}

void print_error(std::string text) {
    while (text.ends_with('\n')) // behind a list
        text.pop_back();
    std::fprintf(stderr, "espalier-train: %s\n", text.c_str());
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

/// "espalier-train bench step", as far as it was understood.
std::string chosen_name(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app.get_name() : app.get_name() + " " + chosen_name(*chosen.front());
}

std::string sentence(std::string text) {
    while (text.ends_with('\n') || text.ends_with(' '))
        text.pop_back();
    return text.ends_with('.') ? text : text + ".";
}

} // namespace

int run_command_line(int argc, char** argv) {
    CLI::App app("Espalier's engine: trains image networks, with or without a window.", "espalier-train");
    commands::Action chosen;
    commands::add_all_commands(app, chosen);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) // --help and --version
            return app.exit(error);
        const bool misses = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
        const auto unknown = misses ? unknown_command(app) : std::string();
        commands::print_error((unknown.empty() ? sentence(error.what()) : unknown) + " `" + chosen_name(app) +
                              " --help` says what can be given.");
        return static_cast<int>(ExitCode::bad_configuration);
    }
    Interrupts::ignore_lost_readers();
    try {
        return chosen();
    } catch (const Error& error) {
        commands::print_error(error.what());
        return static_cast<int>(error.code());
    } catch (const std::bad_alloc&) {
        commands::print_error("this machine's memory does not suffice.");
        return static_cast<int>(ExitCode::out_of_memory);
    } catch (const std::exception& error) {
        commands::print_error(words_of(error));
        return static_cast<int>(ExitCode::failed);
    }
}

} // namespace espalier
