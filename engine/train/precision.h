// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/backend.h"
#include "train/fallback.h"
#include "train/run_config.h"

#include <span>
#include <string>
#include <vector>

namespace espalier {

/// What the precision "auto" came to.
struct PrecisionChoice {
    std::string precision;
    std::vector<FallbackNote> refused; ///< each candidate that failed, the best first
    std::string note;                  ///< for people: what was tried, in one sentence
};

/// Relative difference of the loss to fp32 that the self-test allows after each of its updates. fp16 has 11 bits: a
/// sound step differs by about 0.1 %, bf16 (8 bits) by about 1 %.
inline constexpr double self_test_tolerance = 0.05;

/// Why losses of the self-test are not good enough, in one sentence; empty if they are.
[[nodiscard]] std::string self_test_fault(const std::vector<double>& losses, const std::vector<double>& exact);

/// Chooses a precision for the run's own network: a small batch of noise takes a few updates in fp32 and in each of the
/// `candidates` (the best first, "fp32" last). The first one whose losses are all finite
/// and within self_test_tolerance of those in fp32 is it. `backend` should choose algorithms untimed: the test is
/// short.
[[nodiscard]] PrecisionChoice choose_precision(Backend& backend, const RunConfig& config,
                                               std::span<const std::string> candidates);

} // namespace espalier
