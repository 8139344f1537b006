// SPDX-License-Identifier: Apache-2.0
#include "train/resume.h"

#include "base/counted.h"
#include "base/error.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace espalier {
namespace {

/// The first names of `these` that `others` lack, quoted.
std::string missing_in(const std::vector<std::string>& others, const std::vector<std::string>& these) {
    constexpr std::size_t most = 3;
    const std::set<std::string> known(others.begin(), others.end());
    std::string text;
    std::size_t count = 0;
    for (const auto& name : these)
        if (!known.contains(name) && ++count <= most)
            text += (count > 1 ? ", '" : "'") + name + "'";
    return count > most ? text + " and " + std::to_string(count - most) + " more" : text;
}

/// Which classes are new and which are gone, to be put behind a sentence.
std::string difference_text(const std::vector<std::string>& before, const std::vector<std::string>& now) {
    const auto added = missing_in(before, now), gone = missing_in(now, before);
    return (added.empty() ? "" : "; new there: " + added) + (gone.empty() ? "" : "; no longer there: " + gone);
}

void check_belongs(const CheckpointInfo& info, const std::filesystem::path& file, const NetworkSpec& network,
                   const std::vector<std::string>& classes) {
    const auto refuse = [&](const std::string& why) {
        throw CheckpointError("The checkpoint " + file.string() + " cannot be used here: " + why);
    };
    if (info.class_names.size() != classes.size())
        refuse("it knows " + counted(info.class_names.size(), "class", "classes") + ", but the data set has " +
               std::to_string(classes.size()) + difference_text(info.class_names, classes) +
               ". Use the data that the run was begun with.");
    if (info.class_names != classes)
        refuse("its classes have other names or another order than those of the data set" +
               difference_text(info.class_names, classes) + ". Use the data that the run was begun with.");
    const Json before = info.network.to_json();
    const Json now = network.to_json();
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
        check_belongs(info, found.file, setup.config.network, setup.dataset().info().classes);
        point.state = RunState::from_json(info.run_state);
        point.store = std::move(store);
        point.from_checkpoint = true;
        if (point.state.best_epoch > 0 && !std::filesystem::exists(folder.best())) {
            point.warnings.push_back("The best checkpoint, of epoch " + std::to_string(point.state.best_epoch) +
                                     ", is gone: the best is looked for anew from here on.");
            point.state.forget_best();
        }
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

KeptPrecision kept_precision(const CheckpointFolder& folder) {
    try {
        const auto state = RunState::from_json(read_checkpoint_info(folder.last()).run_state);
        return state.precision_asked == "auto" ? KeptPrecision{state.backend, state.precision} : KeptPrecision{};
    } catch (const Error&) {
        return {}; // none yet, or one that starting_point() will complain about
    }
}

bool nothing_left(const RunState& state, const RunConfig& config, const RunSets& sets) {
    return state.epoch >= config.epochs && (state.tested || sets.test.empty());
}

void check_something_left(const RunState& state, const RunConfig& config, const RunSets& sets) {
    if (nothing_left(state, config, sets))
        throw ConfigError("This run has trained " + counted(state.epoch, "epoch") + ", and " +
                          std::to_string(config.epochs) + plural(config.epochs, " is", " are") +
                          " asked for. To go on, resume it with more: --set epochs=" +
                          std::to_string(state.epoch + config.epochs) + ".");
}

void check_resume(const CheckpointFolder& folder, RunConfig config, const std::filesystem::path& file,
                  const WorkWatch& watch) {
    const auto sets = fit_to_listed_data(config, watch);
    CheckpointFolder::Found found;
    if (file.empty())
        found = folder.load_newest();
    else
        found = {load_checkpoint(file), file, {}};
    if (!found.checkpoint)
        return; // the run begins, or says itself why no checkpoint can be used
    const auto& info = found.checkpoint->info;
    check_belongs(info, found.file, config.network, sets.train.dataset->info().classes);
    check_something_left(RunState::from_json(info.run_state), config, sets);
}

std::string way_back(const RunFolder& run, const RunConfig& config) {
    std::ostringstream rate;
    rate << "--set optimizer.learning_rate=" << config.optimizer.learning_rate / 10;
    const CheckpointFolder folder(run.checkpoints());
    const auto names = folder.names();
    for (const auto& name : names) {
        try {
            if (RunState::from_json(load_checkpoint(folder.find(name)).info.run_state).bad_steps > 0)
                continue;
        } catch (const Error&) {
            continue; // damaged: no way back
        }
        return "Go back to checkpoint " + name + " with a smaller rate: espalier-train resume " + run.path().string() +
               " --checkpoint " + name + " " + rate.str() + ".";
    }
    return "There is no checkpoint from before to go back to: begin a new run with a smaller rate, such as " +
           rate.str() + ".";
}

bool go_back_to_finite_values(CheckpointFolder& folder) {
    const auto names = folder.names();
    for (const auto& name : names) {
        const auto file = folder.find(name);
        try {
            if (!load_checkpoint(file).store.all_finite())
                continue;
        } catch (const CheckpointError&) {
            continue; // damaged
        }
        if (name != names.front())
            folder.go_back_to(file);
        return true;
    }
    return names.empty();
}

} // namespace espalier
