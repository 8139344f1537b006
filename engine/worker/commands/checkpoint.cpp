// SPDX-License-Identifier: Apache-2.0
#include "io/csv.h"
#include "worker/commands/command.h"
#include "worker/console.h"
#include "worker/protocol.h"

namespace espalier::commands {

namespace {

struct Options {
    std::string checkpoint, data, part, format, out;
    std::vector<std::string> images;
    bool json = false;
};

int evaluate(const Options& options) {
    const auto answer = answer_evaluate(
        {{"checkpoint", checkpoint_file(options.checkpoint).string()}, {"data", options.data}, {"part", options.part}},
        {});
    if (options.json)
        print_json(answer);
    else
        print_line(answer.at("set").get<std::string>() + ": " +
                   Console::count_text(answer.at("images").get<std::int64_t>()) + " images" +
                   (answer.value("left_out", 0) > 0
                        ? " (" + Console::count_text(answer["left_out"].get<std::int64_t>()) + " bad files left out)"
                        : "") +
                   ", loss " + Console::fixed(protocol::to_double(answer.at("loss")), 4) + ", accuracy " +
                   Console::fixed(100 * answer.at("accuracy").get<double>(), 2) + " %");
    return 0;
}

int predict(const Options& options) {
    for (const auto& image : options.images) {
        auto answer =
            answer_predict({{"checkpoint", checkpoint_file(options.checkpoint).string()}, {"image", image}}, {});
        if (options.json) {
            print_json({{"image", image}, {"classes", answer.at("classes")}});
            continue;
        }
        print_line(image);
        int shown = 0;
        for (const auto& one : answer.at("classes"))
            if (shown++ < 5)
                print_line("  " + Console::fixed(100 * one.at("probability").get<double>(), 1) + " %  " +
                           one.at("name").get<std::string>());
    }
    return 0;
}

int export_network(const Options& options) {
    const auto answer = answer_export({{"checkpoint", checkpoint_file(options.checkpoint).string()},
                                       {"format", options.format},
                                       {"out", options.out},
                                       {"data", options.data}},
                                      {});
    if (options.json) {
        print_json(answer);
        return 0;
    }
    print_line("Written: " + answer.at("file").get<std::string>());
    if (const auto compared = answer.find("compared"); compared != answer.end())
        print_line("Checked by ONNX's checker, read back and compared on " +
                   Console::count_text(compared->at("images").get<std::int64_t>()) + " images of " +
                   compared->at("origin").get<std::string>() + ": probabilities differ by at most " +
                   csv::cell(compared->at("largest_difference").get<double>()) + ".");
    return 0;
}

} // namespace

void add_checkpoint_commands(CLI::App& app, Action& chosen) {
    const auto options = std::make_shared<Options>();
    const auto add = [&](const char* name, const char* text, int (*action)(const Options&)) {
        auto* command = app.add_subcommand(name, text);
        command->add_option("CHECKPOINT", options->checkpoint, "A checkpoint's file, or a run's folder (its best)")
            ->required();
        command->callback([options, action, &chosen] { chosen = [options, action] { return action(*options); }; });
        return command;
    };
    auto* command = add("eval", "Loss and accuracy of a checkpoint on a data set", evaluate);
    command->add_option("--data", options->data, "The data set, as `run` takes it")->required();
    command->add_option("--part", options->part, "train, validation or test; the last that the set has, if not said");
    command->add_flag("--json", options->json, "One line of JSON");

    command = add("predict", "The classes that a checkpoint sees in images", predict);
    command->add_option("IMAGE", options->images, "Image files")->required();
    command->add_flag("--json", options->json, "One line of JSON an image");

    command = add("export", "Write a checkpoint's network for other programs", export_network);
    command->add_option("--format", options->format, "onnx, safetensors or genotype")->required();
    command->add_option("--out", options->out, "The file to write")->required();
    command->add_option("--data", options->data, "onnx: compare on images of this data set, not of the run's");
    command->add_flag("--json", options->json, "One line of JSON");
}

} // namespace espalier::commands
