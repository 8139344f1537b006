// SPDX-License-Identifier: Apache-2.0
#include "train/fallback.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr std::int64_t smallest_parted_batch = 4;
constexpr std::int64_t most_parts = 128;

} // namespace

Json FallbackNote::to_json() const {
    Json json{{"rung", rung}, {"from", from}, {"to", to}, {"reason", reason}};
    if (!layer.empty())
        json["layer"] = layer;
    if (!undo.is_null())
        json["undo"] = undo;
    return json;
}

std::optional<FallbackNote> less_memory(const RunConfig& config, const std::string& reason) {
    FallbackNote note{.reason = reason};
    if (!config.toggles.recompute && !config.toggles.safe_mode) {
        note.rung = "recompute";
        note.from = "off";
        note.to = "on";
        note.set = {{"toggles", {{"recompute", true}}}};
        return note;
    }
    if (config.batch < smallest_parted_batch || config.accumulation > most_parts)
        return std::nullopt;
    const auto half = config.batch / 2;
    const auto parts = config.accumulation * 2;
    note.rung = "batch";
    note.from = std::to_string(config.batch);
    note.to = std::to_string(half) + ", " + std::to_string(parts) + " of them an update";
    note.set = {{"batch", half}, {"accumulation", parts}};
    return note;
}

std::optional<FallbackNote> wider_precision(std::string_view in_force, const std::vector<std::string>& precisions,
                                            const std::string& reason) {
    if (in_force != "fp16")
        return std::nullopt;
    const bool has_bf16 = std::ranges::find(precisions, "bf16") != precisions.end();
    FallbackNote note{.rung = "precision", .from = "fp16", .to = has_bf16 ? "bf16" : "fp32", .reason = reason};
    note.set = {{"toggles", {{"precision", note.to}}}};
    return note;
}

} // namespace espalier
