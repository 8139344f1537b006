// SPDX-License-Identifier: Apache-2.0
#include "base/counted.h"
#include "base/error.h"
#include "base/text_width.h"
#include "io/run_folder.h"
#include "worker/commands/command.h"
#include "worker/console.h"
#include "worker/protocol.h"
#include "worker/trained_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace espalier::commands {

namespace {

struct CheckpointOptions {
    std::string checkpoint, data, part, format, out, backend = "auto";
    std::vector<std::string> images;
    bool json = false, confusion = false;
};

std::string percent(const Json& share) {
    const auto value = protocol::to_double(share);
    return std::isfinite(value) ? Console::fixed(100 * value, 1) + " %" : "-";
}

/// Numbers in columns that are as wide as they need, the first column to the left.
void print_columns(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths.resize(std::max(widths.size(), i + 1));
            widths[i] = std::max(widths[i], text_width(row[i]));
        }
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string gap(widths[i] - text_width(row[i]), ' ');
            line += i == 0 ? row[i] + gap : "  " + gap + row[i];
        }
        print_line(line);
    }
}

void print_confusion(const Json& answer) {
    constexpr std::size_t most_columns = 20;
    std::vector<std::vector<std::string>> rows{{"class", "images", "precision", "recall", "F1"}};
    for (const auto& one : answer.at("per_class"))
        rows.push_back({one.at("name").get<std::string>(), Console::count_text(one.at("images").get<std::int64_t>()),
                        percent(one.at("precision")), percent(one.at("recall")), percent(one.at("f1"))});
    print_line("");
    print_columns(rows);
    const auto& names = answer.at("classes");
    print_line("");
    if (names.size() <= most_columns) {
        rows = {{"truth \\ predicted"}};
        for (const auto& name : names) {
            rows.front().push_back(name.get<std::string>());
            rows.push_back({name.get<std::string>()});
            rows.back().resize(names.size() + 1, ".");
        }
        for (const auto& cell : answer.at("cells"))
            rows[cell[0].get<std::size_t>() + 1][cell[1].get<std::size_t>() + 1] =
                std::to_string(cell[2].get<std::int64_t>());
    } else {
        auto cells = answer.at("cells").get<std::vector<std::array<std::int64_t, 3>>>();
        std::erase_if(cells, [](const auto& cell) { return cell[0] == cell[1]; });
        std::ranges::stable_sort(cells, std::greater(), [](const auto& cell) { return cell[2]; });
        cells.resize(std::min(cells.size(), most_columns));
        print_line("Confused most often:");
        rows = {{"truth", "predicted", "images"}};
        for (const auto& [truth, predicted, count] : cells)
            rows.push_back({names.at(static_cast<std::size_t>(truth)).get<std::string>(),
                            names.at(static_cast<std::size_t>(predicted)).get<std::string>(), std::to_string(count)});
    }
    print_columns(rows);
}

/// Without --data that of the run: the folder that was given, or that in which the checkpoint lies.
Json evaluated(const CheckpointOptions& options) {
    Json arguments{{"part", options.part}, {"data", options.data}, {"backend", options.backend}};
    if (options.confusion && RunFolder(options.checkpoint).is_run()) { // then its results are kept
        arguments["path"] = options.checkpoint;
        return answer_of_child("confusion", arguments);
    }
    arguments["checkpoint"] = checkpoint_file(options.checkpoint).string();
    return answer_of_child(options.confusion ? "confusion" : "evaluate", arguments);
}

int evaluate(const CheckpointOptions& options) {
    const auto answer = evaluated(options);
    if (options.json)
        print_json(answer);
    else
        print_line(answer.at("set").get<std::string>() + ": " +
                   Console::count_text(answer.at("images").get<std::int64_t>(), "image") +
                   (answer.value("left_out", 0) > 0
                        ? " (" + Console::count_text(answer["left_out"].get<std::int64_t>(), "bad file") + " left out)"
                        : "") +
                   ", loss " + Console::fixed(protocol::to_double(answer.at("loss")), 4) + ", accuracy " +
                   Console::fixed(100 * answer.at("accuracy").get<double>(), 2) + " %");
    if (options.confusion && !options.json)
        print_confusion(answer);
    return 0;
}

void print_prediction(const std::string& image, const Json& classes) {
    constexpr int most_shown = 5;
    print_line(image);
    int shown = 0;
    for (const auto& one : classes)
        if (shown++ < most_shown)
            print_line("  " + Console::fixed(100 * one.at("probability").get<double>(), 1) + " %  " +
                       one.at("name").get<std::string>());
}

/// An image that cannot be used is named and holds up none of the others.
int predict(const CheckpointOptions& options) {
    TrainedModel model(checkpoint_file(options.checkpoint), options.backend);
    std::size_t bad = 0;
    for (const auto& image : options.images) {
        try {
            const auto classes = predicted_classes(model, {{"image", image}});
            if (options.json)
                print_json({{"image", image}, {"classes", classes}});
            else
                print_prediction(image, classes);
        } catch (const DataError& error) {
            ++bad;
            if (options.json)
                print_json({{"image", image}, {"error", error.what()}});
            print_error(error.what());
        }
    }
    if (bad == 0)
        return static_cast<int>(ExitCode::done);
    if (options.images.size() > 1)
        print_error(std::to_string(bad) + " of " + counted(options.images.size(), "image") + " could not be used.");
    return static_cast<int>(ExitCode::bad_data);
}

int export_network(const CheckpointOptions& options) {
    const auto answer = answer_of_child("export", {{"checkpoint", checkpoint_file(options.checkpoint).string()},
                                                   {"format", options.format},
                                                   {"out", options.out},
                                                   {"data", options.data}});
    if (options.json) {
        print_json(answer);
        return 0;
    }
    for (const auto& folder : answer.at("folders"))
        print_line("Folder made: " + folder.get<std::string>());
    print_line("Written: " + answer.at("file").get<std::string>());
    if (const auto compared = answer.find("compared"); compared != answer.end())
        print_line("Checked by ONNX's checker, read back and compared on " +
                   Console::count_text(compared->at("images").get<std::int64_t>(), "image") + " of " +
                   compared->at("origin").get<std::string>() + ": probabilities differ by at most " +
                   Console::scientific(compared->at("largest_difference").get<double>()) + ".");
    return 0;
}

} // namespace

void add_checkpoint_commands(CLI::App& app, Action& chosen) {
    const auto options = std::make_shared<CheckpointOptions>();
    const auto add = [&](const char* name, const char* text, int (*action)(const CheckpointOptions&)) {
        auto* command = app.add_subcommand(name, text);
        command->add_option("CHECKPOINT", options->checkpoint, "A checkpoint's file, or a run's folder (its best)")
            ->required()
            ->type_name("");
        command->callback([options, action, &chosen] { chosen = [options, action] { return action(*options); }; });
        return command;
    };
    const auto add_backend = [&](CLI::App* command) {
        command
            ->add_option("--backend", options->backend,
                         "auto, cpu, cuda or reference; auto, the fastest, computes in reduced precision on a GPU")
            ->type_name("NAME")
            ->capture_default_str();
    };
    auto* command = add("eval", "Loss and accuracy of a checkpoint on a data set", evaluate);
    command->add_option("--data", options->data, "The data set, as `run` takes it [that of the checkpoint's run]")
        ->type_name("SPEC");
    command->add_flag("--confusion", options->confusion,
                      "Also which classes are taken for which, and precision, recall and F1 of each");
    command->add_option("--part", options->part, "train, validation or test [the last of them that the set has]")
        ->type_name("PART");
    add_backend(command);
    command->add_flag("--json", options->json, "One line of JSON");

    command = add("predict", "The classes that a checkpoint sees in images", predict);
    command->add_option("IMAGE", options->images, "Image files")->required()->type_name("");
    add_backend(command);
    command->add_flag("--json", options->json, "One line of JSON an image");

    command = add("export", "Write a checkpoint's network for other programs", export_network);
    command->add_option("--format", options->format, export_formats_text())->required()->type_name("FORMAT");
    command->add_option("--out", options->out, "The file to write; folders above it that are not there are made")
        ->required()
        ->type_name("FILE");
    command->add_option("--data", options->data, "onnx: compare on images of this data set, not of the run's")
        ->type_name("SPEC");
    command->add_flag("--json", options->json, "One line of JSON");
}

} // namespace espalier::commands
