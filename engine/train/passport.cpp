// SPDX-License-Identifier: Apache-2.0
#include "train/passport.h"

#include "base/threads.h"
#include "plan/session.h"

#include <algorithm>
#include <set>

namespace espalier {

Json to_json(const Tuning& tuning) {
    return {{"known", tuning.known},       {"timed", tuning.timed},      {"improved", tuning.improved},
            {"open", tuning.open},         {"skipped", tuning.skipped},  {"seconds", tuning.seconds},
            {"rejected", tuning.rejected}, {"warnings", tuning.warnings}};
}

Json make_passport(RunSetup& setup, const Json& earlier) {
    auto& network = *setup.network;
    const auto& config = setup.config;
    const bool on_host = setup.backend->in_host_memory();
    std::set<std::string> kernels;
    for (const auto& op : network.plan_of(network.training_step(config.batch)).ops())
        kernels.insert(op.kind + ": " + op.kernel);

    Json fallbacks = earlier.value("fallbacks", Json::array());
    if (!fallbacks.is_array()) // users may edit the file
        fallbacks = Json::array();
    for (const auto& note : setup.fallbacks)
        if (auto entry = note.to_json(); std::ranges::find(fallbacks, entry) == fallbacks.end())
            fallbacks.push_back(std::move(entry));
    Json passport = {
        {"build", ESPALIER_VERSION},
        {"compiler", __VERSION__},
        {"backend", setup.backend->name()},
        {"threads", config.threads > 0 ? config.threads : usable_threads()},
        {"precision", network.precision()},
        {"seed", config.seed},
        {"data", config.data},
        {"data_hash", setup.data_hash},
        {"training_images", setup.sets.train.size()},
        {"validation_images", setup.sets.validation.size()},
        {"test_images", setup.sets.test.size()},
        {"kernels", kernels},
        {"fallbacks", fallbacks},
        {"bit_exact", on_host || config.toggles.deterministic},
        {"bit_exact_when",
         on_host ? "the build, the processor's instruction set and the number of threads are the same"
                 : "\"deterministic\" is on, and the build, the GPU's model, cuDNN and the driver are the same"}};
    if (setup.first_step_seconds > 0)
        passport["first_step_seconds"] = setup.first_step_seconds;
    if (!on_host) {
        passport["tuning"] = to_json(setup.backend->tuning());
        if (setup.tuned_seconds > 0)
            passport["tuning"]["tuned_seconds"] = setup.tuned_seconds;
    }
    return passport;
}

} // namespace espalier
