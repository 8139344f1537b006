// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "io/safetensors.h"
#include "nn/network_spec.h"
#include "passes/pipeline.h"
#include "plan/backend.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace espalier::testing {

/// Where a whole-network fixture begins.
struct NetworkFixture {
    Json attributes; ///< network, optimizer: the file's metadata
    NetworkSpec spec;
    std::map<std::string, std::vector<float>> before; ///< parameters and buffers by name
    std::vector<float> images;                        ///< [batch, channels, height, width]
    std::vector<std::int32_t> labels;                 ///< [batch]
};

/// What is computed from it, by the names of the file: logits, grad/NAME of the first step, losses of three optimizer
/// steps, after3/NAME, and, where the fixture has a step on alpha, arch/loss, arch/grad/NAME, arch/after/NAME.
using NetworkResults = std::map<std::string, std::vector<float>>;

[[nodiscard]] NetworkFixture read_fixture(const safetensors::Reader& file);
/// The same network with other parameters, images and labels: functions of (seed, name).
[[nodiscard]] NetworkFixture draw_fixture(const NetworkFixture& like, std::uint64_t seed);
/// The same, with every parameter and pixel times a random factor in [1 - relative, 1 + relative].
[[nodiscard]] NetworkFixture nudge_fixture(const NetworkFixture& like, double relative, std::uint64_t seed);
[[nodiscard]] NetworkResults read_results(const safetensors::Reader& file);
[[nodiscard]] NetworkResults compute_results(const NetworkFixture& fixture, const Toggles& toggles, Backend& backend);

/// One thing compared.
struct Comparison {
    std::string name;   ///< "loss of step 2", "grad/stem.0.weight", "after3/..."
    double error = 0;   ///< relative for losses, else mean |a - b|
    double allowed = 0; ///< losses 1e-5, 1e-5, 1e-4; else 1e-4 mean |a| + 1e-6
    [[nodiscard]] bool ok() const { return error <= allowed; }
};

/// Everything that is expected; throws std::out_of_range if something of it was not found.
[[nodiscard]] std::vector<Comparison> compare_results(const NetworkResults& expected, const NetworkResults& found);
/// The first `relative` for which the oracle (the reference backend) finds what was found, within the same limits, from
/// parameters and pixels that differ from the fixture's by up to that: 2^-22, 2^-20 or 2^-18, a 26th of the limits.
/// Then rounding decides the sign of a ReLU's input, or which of two inputs of a pool is the greatest, and the fixture
/// takes one side; an error of arithmetic is as far from these results as from the fixture's. Nothing if none of the
/// tries is met.
[[nodiscard]] std::optional<double> explaining_roundings(const NetworkFixture& fixture, const NetworkResults& found,
                                                         Backend& oracle);
/// The comparison that is nearest to its limit, or furthest above it.
[[nodiscard]] const Comparison& worst_of(const std::vector<Comparison>& comparisons);

} // namespace espalier::testing
