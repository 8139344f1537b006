// SPDX-License-Identifier: Apache-2.0
#include "train/blame.h"

#include "train/events.h"
#include "train/layer_report.h"

#include <fstream>

namespace espalier {
namespace {

constexpr std::size_t launches_told = 8;

Json names_of(const PlannedOp& op) { return {{"layer", op.layer}, {"kind", op.kind}, {"kernel", op.kernel}}; }

/// When it was reported. `step`: the update in hand, or the last one.
std::string when(const std::string& phase, std::int64_t step) {
    const auto update = "update " + std::to_string(step);
    return phase == "training" ? "in " + update
                               : (phase == "evaluating" ? "in the evaluation after " : "after ") + update;
}

std::string certainty(bool as_one, bool on_host, bool every_step_waits, const std::string& phase, std::int64_t step) {
    auto place = when(phase, step);
    if (on_host) {
        place.front() = static_cast<char>(place.front() - 'a' + 'A');
        return place + ", at this layer.";
    }
    const std::string what = phase == "evaluating" ? "The batch" : "The update";
    const std::string where =
        as_one ? what + " was launched as a whole: any of its kernels may have failed" : "At or before this layer";
    const bool only_there = every_step_waits || phase != "training"; // all updates are waited for before anything else
    return where + ", " + place + (only_there ? "." : " or one shortly before.");
}

} // namespace

Json blame_record(const RunSetup& setup, const std::string& error, const std::string& phase, std::int64_t step) {
    const auto& network = *setup.network;
    const auto toggles = setup.config.toggles.effective();
    const auto launched = network.last_launched(launches_told);
    const bool on_host = setup.backend->in_host_memory();
    Json record{{"error", error},
                {"phase", phase},
                {"step", step},
                {"backend", setup.backend->name()},
                {"precision", network.precision()},
                {"safe_mode", toggles.safe_mode},
                {"memory", to_json(network.memory())},
                {"launched", Json::array()}};
    if (!launched.empty()) {
        record.update(names_of(launched.front()));
        record["certainty"] = certainty(network.launched_as_one(), on_host, toggles.safe_mode, phase, step);
    }
    for (const auto& op : launched)
        record["launched"].push_back(names_of(op));
    return record;
}

void append_blame(const std::filesystem::path& file, const Json& record) {
    Json line = make_event("device_fault");
    line.update(record);
    std::ofstream(file, std::ios::binary | std::ios::app)
        << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n'
        << std::flush;
}

} // namespace espalier
