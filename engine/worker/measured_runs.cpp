// SPDX-License-Identifier: Apache-2.0
#include "worker/measured_runs.h"

#include "base/error.h"
#include "io/run_folder.h"
#include "worker/protocol.h"

#include <fstream>
#include <optional>
#include <sstream>

namespace espalier {
namespace {

constexpr std::size_t most_runs = 40; ///< the newest that are looked at
constexpr std::streamoff tail_bytes = 32 * 1024;
constexpr std::streamoff head_bytes = 2 * 1024 * 1024; ///< within which a plan stands

/// What decides the time of a step besides toggles and device.
Json work_of(const Json& config) {
    Json work;
    for (const char* key : {"data", "network", "image_size", "batch", "accumulation", "augmentation", "threads"})
        work[key] = config.value(key, Json());
    work["optimizer"] = config.value("optimizer", Json::object()).value("kind", "");
    return work;
}

/// The newest speed that the run's events tell.
std::optional<double> speed_of(const RunFolder& run) {
    std::ifstream stream(run.events(), std::ios::binary | std::ios::ate);
    const auto size = static_cast<std::streamoff>(stream.tellg());
    if (!stream || size <= 0)
        return std::nullopt;
    stream.seekg(std::max<std::streamoff>(0, size - tail_bytes));
    std::optional<double> speed;
    for (std::string line; std::getline(stream, line);) // the first one may be cut
        if (const auto event = protocol::parse_line(line); event && protocol::is_event(*event, "resources"))
            if (const double images = protocol::number_at(*event, "images_per_second"); images > 0)
                speed = images;
    return speed;
}

/// The newest plan of the run, which tells device and toggles.
std::optional<Json> plan_of(const RunFolder& run) {
    std::ifstream stream(run.events(), std::ios::binary);
    std::optional<Json> plan;
    for (std::string line; stream.tellg() < head_bytes && std::getline(stream, line);)
        if (line.find("\"plan\"") != std::string::npos)
            if (auto event = protocol::parse_line(line); event && protocol::is_event(*event, "plan"))
                if (!protocol::flag_at(*event, "continued"))
                    plan = std::move(event);
    return plan;
}

} // namespace

Json measured_runs(const std::filesystem::path& root, const RunConfig& config) {
    Json measured = Json::array();
    const auto work = work_of(config.to_json());
    std::size_t looked_at = 0;
    for (const auto& run : runs_in(root)) {
        if (++looked_at > most_runs)
            break;
        try {
            if (work_of(read_json(run.config())) != work)
                continue;
        } catch (const Error&) { // a damaged folder tells nothing
            continue;
        }
        const auto plan = plan_of(run);
        const auto speed = plan && plan->contains("toggles") ? speed_of(run) : std::nullopt;
        if (!speed)
            continue;
        const auto device = protocol::text_at(*plan, "device");
        bool known = false;
        for (const auto& other : measured)
            known |= other.at("device") != device || other.at("toggles") == plan->at("toggles");
        if (!known)
            measured.push_back({{"run", run.path().filename().string()},
                                {"toggles", plan->at("toggles")},
                                {"images_per_second", *speed},
                                {"device", device}});
    }
    return measured;
}

} // namespace espalier
