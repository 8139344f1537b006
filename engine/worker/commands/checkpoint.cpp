// SPDX-License-Identifier: Apache-2.0
#include "worker/commands/command.h"

namespace espalier::commands {

void add_checkpoint_commands(CLI::App& app, Action& chosen) {
    struct Options {
        std::string checkpoint, format, out;
    };
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("export", "Write a checkpoint's network for other programs");
    command->add_option("CHECKPOINT", options->checkpoint, "A checkpoint's file, or a run's folder (its best)")
        ->required();
    command->add_option("--format", options->format, "safetensors or genotype")->required();
    command->add_option("--out", options->out, "The file to write")->required();
    command->callback([options, &chosen] {
        chosen = [options] {
            const auto answer = answer_export({{"checkpoint", checkpoint_file(options->checkpoint).string()},
                                               {"format", options->format},
                                               {"out", options->out}},
                                              {});
            print_line("Written: " + answer.at("file").get<std::string>());
            return 0;
        };
    });
}

} // namespace espalier::commands
