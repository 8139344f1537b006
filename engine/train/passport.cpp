// SPDX-License-Identifier: Apache-2.0
#include "train/passport.h"

#include "base/error.h"
#include "base/threads.h"
#include "io/run_folder.h"
#include "plan/session.h"
#include "train/run_events.h"

#include <algorithm>
#include <fstream>
#include <set>

namespace espalier {

Json to_json(const Tuning& tuning) {
    return {{"known", tuning.known},       {"timed", tuning.timed},       {"in_pairs", tuning.in_pairs},
            {"improved", tuning.improved}, {"open", tuning.open},         {"skipped", tuning.skipped},
            {"seconds", tuning.seconds},   {"rejected", tuning.rejected}, {"warnings", tuning.warnings}};
}

namespace {

/// The value behind "KEY: " or "KEY=" in the first line of a file that begins so; empty where there is none.
std::string value_in(const std::filesystem::path& file, std::string_view key) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);)
        if (line.starts_with(key))
            if (auto at = line.find_first_of(":=", key.size()); at != std::string::npos) {
                at = line.find_first_not_of(" \"", at + 1);
                const auto end = line.find_last_not_of(" \"\r");
                return at == std::string::npos ? std::string() : line.substr(at, end + 1 - at);
            }
    return {};
}

std::string processor_name() { return value_in("/proc/cpuinfo", "model name"); }

/// As the system calls itself; elsewhere than on Linux what the program was built for.
std::string system_name() {
    if (auto name = value_in("/etc/os-release", "PRETTY_NAME"); !name.empty())
        return name;
#ifdef _WIN32
    return "Windows";
#else
    return "Linux";
#endif
}

/// Name, memory and versions of what computes; on the processor its instruction set and library.
Json device_of(const RunSetup& setup) {
    const auto facts = setup.backend->device();
    Json device = facts.identity;
    if (!device.is_object())
        device = Json::object();
    if (!facts.name.empty())
        device["name"] = facts.name;
    if (facts.memory > 0)
        device["memory"] = facts.memory;
    return device;
}

} // namespace

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
        {"system", system_name()},
        {"processor", processor_name()},
        {"backend", setup.backend->name()},
        {"device", device_of(setup)},
        {"threads", usable_threads(config.threads)},
        {"precision", network.precision()},
        {"seed", config.seed},
        {"data", config.data},
        {"data_hash", setup.data_hash},
        {"training_images", setup.sets.train.size()},
        {"validation_images", setup.sets.validation.size()},
        {"test_images", setup.sets.test.size()},
        {"toggles", toggles_in_force(setup)},
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

void PassportFile::write(RunSetup& setup) {
    try {
        write_json(file_, make_passport(setup, read_object(file_)));
    } catch (const Error& error) {
        if (!std::filesystem::exists(file_))
            throw;
        if (!std::exchange(stale_told_, true))
            warn(events_, std::string("The run's passport is an older one. ") + error.what());
    }
}

} // namespace espalier
