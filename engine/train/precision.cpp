// SPDX-License-Identifier: Apache-2.0
#include "train/precision.h"

#include "base/counted.h"
#include "base/error.h"
#include "train/network_session.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

namespace espalier {
namespace {

constexpr std::int64_t images = 8;
constexpr std::int64_t updates = 3;
constexpr double learning_rate = 1e-3; // small: the updates shall show the gradients, not run away

/// Loss of each update in that precision, from the same values on the same noise.
std::vector<double> losses_in(const std::string& precision, Backend& backend, RunConfig config) {
    config.batch = std::min(config.batch, images);
    config.accumulation = 1;
    config.toggles.precision = precision;
    config.toggles.cuda_graphs = false; // to record costs more than so few steps do
    config.toggles.recompute = false;
    NetworkSession network(backend, config);
    network.prepare_training(config.batch);
    ParameterStore store;
    store.add_missing(network.forward_graph(), config.seed);
    network.load(store);

    const auto& spec = config.network;
    std::vector<float> noise(static_cast<std::size_t>(config.batch * spec.channels * spec.height * spec.width));
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::ranges::generate(noise, [&] { return normal(random); });
    std::vector<std::int32_t> labels(static_cast<std::size_t>(config.batch));
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) % spec.classes);

    std::vector<double> losses;
    for (std::int64_t step = 1; step <= updates; ++step)
        network.train({noise, labels}, {.learning_rate = learning_rate, .step = step});
    for (const auto& result : network.take_history())
        losses.push_back(result.loss);
    return losses;
}

} // namespace

std::string self_test_fault(const std::vector<double>& losses, const std::vector<double>& exact) {
    if (losses.size() != exact.size())
        return "it took " + counted(losses.size(), "update") + " of a self-test, and fp32 " +
               std::to_string(exact.size()) + ".";
    for (std::size_t i = 0; i < losses.size(); ++i) {
        std::ostringstream text;
        text.precision(4);
        if (!std::isfinite(losses[i]))
            text << "its loss was not a finite number at update " << i + 1 << " of a self-test.";
        else if (std::abs(losses[i] - exact[i]) > self_test_tolerance * std::max(1.0, std::abs(exact[i])))
            text << "its loss at update " << i + 1 << " of a self-test was " << losses[i] << ", that of fp32 "
                 << exact[i] << ".";
        if (auto found = text.str(); !found.empty())
            return found;
    }
    return {};
}

PrecisionChoice choose_precision(Backend& backend, const RunConfig& config, std::span<const std::string> candidates) {
    PrecisionChoice choice;
    const auto exact = losses_in("fp32", backend, config);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        choice.precision = candidates[i];
        if (choice.precision == "fp32")
            break;
        std::string why;
        try {
            why = self_test_fault(losses_in(choice.precision, backend, config), exact);
        } catch (const ConfigError& error) { // the backend refuses an op in it
            why = error.what();
        }
        if (why.empty()) {
            choice.note = "The precision is " + choice.precision + ": in a self-test its losses were within " +
                          std::to_string(std::lround(100 * self_test_tolerance)) + " % of those in fp32.";
            break;
        }
        choice.refused.push_back({.rung = "precision",
                                  .from = candidates[i],
                                  .to = i + 1 < candidates.size() ? candidates[i + 1] : "fp32",
                                  .reason = candidates[i] + " cannot train this network here: " + why,
                                  .undo = {{"toggles", {{"precision", candidates[i]}}}}});
    }
    return choice;
}

} // namespace espalier
