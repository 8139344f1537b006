// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/run_config.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// A rung of the ladder: what is changed because something failed (event `fallback`).
struct FallbackNote {
    /// "kernel", "algorithm", "cuda_graphs", "precision", "data", "recompute", "batch"; the supervisor's own:
    /// "safe_mode", "cpu"
    std::string rung;
    std::string from, to, reason;
    std::string layer; ///< where it belongs to one
    Json set;          ///< settings that take the rung, laid over config.json; null where it is taken at every start
    Json undo;         ///< settings that take it back; null where none do, or where `set` tells the supervisor

    [[nodiscard]] Json to_json() const;
    /// Whether it was taken because memory is short.
    [[nodiscard]] bool saves_memory() const { return rung == "data" || rung == "recompute" || rung == "batch"; }
};

/// The next smaller thing to try where memory is short: recomputation, then half the batch and twice the accumulation.
/// Nothing if the batch is too small to be parted.
[[nodiscard]] std::optional<FallbackNote> less_memory(const RunConfig& config, const std::string& reason);

/// What follows on fp16 that overflows without end: bf16 where the backend has it, else fp32. Nothing if `in_force` is
/// another precision: its range is that of fp32, and what is not finite there is not finite in fp32 either.
[[nodiscard]] std::optional<FallbackNote>
wider_precision(std::string_view in_force, const std::vector<std::string>& precisions, const std::string& reason);

} // namespace espalier
