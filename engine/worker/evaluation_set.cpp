// SPDX-License-Identifier: Apache-2.0
#include "worker/evaluation_set.h"

#include "base/error.h"
#include "data/class_mapping.h"
#include "io/run_folder.h"
#include "train/run_setup.h"

#include <algorithm>

namespace espalier {

RunConfig config_around(const std::filesystem::path& checkpoint) {
    const auto run = run_around(checkpoint);
    if (!run)
        throw ConfigError("Say which data are meant (--data SPEC): " + checkpoint.string() +
                          " lies in no run's folder, whose data would be taken.");
    return RunConfig::from_json(read_json(run->config()));
}

void check_part_name(const std::string& part) {
    if (!part.empty() && std::ranges::none_of(all_parts, [&](Part one) { return name_of(one) == part; }))
        throw ConfigError("The part of a data set must be train, validation or test; this came: " + part + ".");
}

EvaluationSet set_to_evaluate(const EvaluationSource& source, const std::string& part, const CheckpointInfo& trained,
                              const std::function<bool()>& leave) {
    check_part_name(part);
    OpenOptions options{.image = ImageShape{trained.network.channels, trained.network.height, trained.network.width},
                        .watch = {.progress = {}, .leave = leave}};
    if (source.run)
        options.max_bad_share = source.run->max_bad_share;
    const auto whole = open_dataset(source.data, options);
    const bool held_back = source.run && whole->size(Part::validation) == 0;
    EvaluationSet result;
    for (const auto candidate : {Part::test, Part::validation, Part::train})
        if (whole->size(candidate) > 0 || (candidate == Part::validation && held_back))
            result.parts.emplace_back(name_of(candidate));
    result.part = part.empty() ? result.parts.front() : part;
    if (std::ranges::find(result.parts, result.part) == result.parts.end())
        throw DataError("The data set " + source.data + " has no images in a part named \"" + part + "\".");

    const auto in_file = *std::ranges::find_if(all_parts, [&](Part one) {
        return held_back && result.part == name_of(Part::validation) ? one == Part::train : name_of(one) == result.part;
    });
    options.only = in_file;
    options.decode = true; // bad files are left out, on all threads
    options.memory = source.memory.value_or(memory_for_images());
    options.cache = image_cache_folder();
    result.set = all_of(open_dataset(source.data, options), in_file);
    if (held_back && in_file == Part::train) {
        auto split_as_the_run = split(result.set, source.run->validation_share, source.run->seed);
        result.set = std::move(result.part == name_of(Part::train) ? split_as_the_run.first : split_as_the_run.second);
    }
    if (result.set.empty())
        throw DataError("The part \"" + result.part + "\" of the data set " + source.data + " has no images.");
    if (!trained.class_names.empty())
        result.set.dataset = with_classes(std::move(result.set.dataset), trained.class_names);
    return result;
}

} // namespace espalier
