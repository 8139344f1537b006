// SPDX-License-Identifier: Apache-2.0
#include "base/counted.h"
#include "worker/answer_children.h"
#include "worker/commands/command.h"
#include "worker/console.h"
#include "worker/protocol.h"

namespace espalier::commands {
namespace {

using protocol::text_at;

void print_devices(const Json& probe) {
    for (const auto& device : probe.at("devices")) {
        auto line = text_at(device, "backend") + ": " + text_at(device, "name");
        if (device.at("usable"))
            line += ", " + counted(device.at("threads").get<int>(), "thread") + ", " +
                    Console::bytes_text(device.at("memory_bytes").get<double>());
        else
            line += ", not usable: " + text_at(device, "reason");
        print_line(line);
    }
}

/// In a child, as serve asks: a driver that crashes or hangs leaves an answer without it.
Json ask_devices(const Json&, const RequestContext& context) {
    bool complete = true;
    return AnswerChildren().probe(context, ChildPatience{}.probe, complete);
}

void print_presets(const Json& presets) {
    for (const auto& preset : presets.at("presets")) {
        print_line(text_at(preset, "name") + ": " + text_at(preset, "summary"));
        if (!preset.at("available"))
            print_line("    not available: " + text_at(preset, "reason"));
    }
}

void add(CLI::App& app, Action& chosen, const char* name, const char* text,
         Json (*answer)(const Json&, const RequestContext&), void (*print)(const Json&)) {
    const auto json = std::make_shared<bool>(false);
    auto* command = app.add_subcommand(name, text);
    command->add_flag("--json", *json, "One line of JSON");
    command->callback([=, &chosen] {
        chosen = [=] {
            const auto found = answer({}, {});
            if (*json)
                print_json(found);
            else
                print(found);
            return 0;
        };
    });
}

} // namespace

void add_machine_commands(CLI::App& app, Action& chosen) {
    add(app, chosen, "probe", "List the devices, what each supports and why not", ask_devices, print_devices);
    add(app, chosen, "presets", "List the presets", answer_presets, print_presets);
}

} // namespace espalier::commands
