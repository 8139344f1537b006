// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "train/resources.h"
#include "train/run_events.h"
#include "train/run_setup.h"
#include "train/time_estimate.h"
#include "worker/protocol.h"
#include "worker/requests.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

constexpr std::int64_t most_images = 65536; // the largest batch that a configuration may have

std::size_t planned_bytes(RunSetup& setup, std::int64_t batch) {
    return plan_network(*setup.backend, setup.config, {batch}, {}, setup.device_data)->memory().total();
}

/// Memory grows with the batch by a constant for each image, nearly: two plans tell it.
std::int64_t largest_batch(RunSetup& setup, std::size_t limit) {
    const auto batch = std::max<std::int64_t>(4, setup.config.batch);
    const auto images = static_cast<std::int64_t>(setup.sets.train.size());
    const auto whole = static_cast<double>(planned_bytes(setup, batch));
    const auto half = static_cast<double>(planned_bytes(setup, batch / 2));
    const double an_image = (whole - half) / static_cast<double>(batch - batch / 2);
    if (an_image <= 0 || limit == 0)
        return std::min(images, most_images);
    const double fits = static_cast<double>(batch) + (static_cast<double>(limit) - whole) / an_image;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(std::max(0.0, fits))), 0,
                                    std::min(images, most_images));
}

std::string mebibytes(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

} // namespace

Json answer_plan(const Json& arguments, const RequestContext& context) {
    const auto config = RunConfig::from_json(whole_config(arguments.value("config", Json())));
    const auto limit = memory_limit(config);
    auto setup = set_up_run(config, {.progress = {}, .leave = [&] { return context.stop.stop_requested(); }},
                            ImageFilesUse::listed);
    context.check();
    auto answer = plan_event(setup);
    answer.erase("type");
    answer.erase("time");
    answer["limit"] = limit;
    answer["warnings"] = setup.warnings;
    if (const auto available = available_memory(); available && config.memory_limit_mib == 0)
        answer["notes"].push_back("Memory: of " + mebibytes(*available) +
                                  " that are free on this machine now, a run may " + "take " + mebibytes(limit) +
                                  "; the rest is left for other programs. memory_limit_mib "
                                  "sets another limit.");
    // What did not fit was made smaller: the answer describes what would really run.
    answer["fits"] = setup.fallbacks.empty();
    for (const auto& fallback : setup.fallbacks)
        answer["notes"].push_back("Does not fit as it is: " + fallback.reason + " Then " + fallback.rung + ": " +
                                  fallback.to + ".");
    answer["estimated_seconds"] = estimated_seconds(setup);
    setup.network.reset();
    answer["largest_batch"] = largest_batch(setup, limit);
    return answer;
}

} // namespace espalier
