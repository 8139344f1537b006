// SPDX-License-Identifier: Apache-2.0
#include "train/resume.h"

#include "base/error.h"

#include <algorithm>

namespace espalier {
namespace {

void check_belongs(const CheckpointInfo& info, const std::filesystem::path& file, const RunSetup& setup) {
    const auto refuse = [&](const std::string& why) {
        throw CheckpointError("The checkpoint " + file.string() + " cannot be used here: " + why);
    };
    const auto& classes = setup.dataset().info().classes;
    if (info.class_names.size() != classes.size())
        refuse("it knows " + std::to_string(info.class_names.size()) + " classes, but the data set has " +
               std::to_string(classes.size()) + ". Use the data that the run was begun with.");
    if (info.class_names != classes)
        refuse(
            "its classes have other names or another order than those of the data set. Use the data that the run was "
            "begun with.");
    const Json before = info.network.to_json();
    const Json now = setup.config.network.to_json();
    if (before != now)
        refuse("its network is " + before.dump() + ", but the configuration asks for " + now.dump() +
               ". Begin a new run for another network.");
}

/// Slots that another optimizer left behind.
bool drop_foreign_slots(ParameterStore& store, const std::vector<std::string>& known) {
    bool dropped = false;
    for (auto& entry : store.entries())
        dropped |= std::erase_if(entry.slots, [&](const auto& slot) {
                       return std::ranges::find(known, slot.first) == known.end();
                   }) > 0;
    return dropped;
}

} // namespace

StartingPoint starting_point(const CheckpointFolder& folder, const RunSetup& setup) {
    StartingPoint point;
    auto found = folder.load_newest();
    point.warnings = std::move(found.problems);
    if (found.checkpoint) {
        auto& [info, store] = *found.checkpoint;
        check_belongs(info, found.file, setup);
        point.state = RunState::from_json(info.run_state);
        point.store = std::move(store);
        point.from_checkpoint = true;
        if (drop_foreign_slots(point.store, slots_of(setup.config.optimizer)))
            point.warnings.push_back("The optimizer is another one than before: its state begins anew.");
    } else if (std::filesystem::exists(folder.last()) || std::filesystem::exists(folder.best())) {
        std::string text = "No checkpoint of this run can be used, and a run never begins anew by itself.";
        for (const auto& problem : point.warnings)
            text += ' ' + problem;
        throw CheckpointError(text + " Begin a new run with the same configuration.");
    }
    point.store.add_missing(setup.network->forward_graph(), setup.config.seed);
    if (auto text = point.state.change_batch(setup.images_per_step(), setup.steps_per_epoch); !text.empty())
        point.warnings.push_back(std::move(text));
    return point;
}

} // namespace espalier
