// SPDX-License-Identifier: Apache-2.0
#include "train/time_estimate.h"

#include <algorithm>
#include <chrono>

namespace espalier {
namespace {

constexpr double work_to_time = 0.5e9; // FLOPs
constexpr double patience = 0.2;       // seconds; on a busy machine a rougher answer is better than a late one

/// Seconds that a FLOP of this network takes in training.
double seconds_per_flop(RunSetup& setup, double flops_per_image) {
    const auto fitting = static_cast<std::int64_t>(work_to_time / std::max(1.0, flops_per_image));
    const auto batch = std::clamp<std::int64_t>(fitting, 2, std::max<std::int64_t>(2, setup.config.batch));
    RunConfig config = setup.config;
    config.accumulation = 1;
    config.batch = batch;
    NetworkSession network(*setup.backend, config);
    network.prepare_training(batch);
    ParameterStore store;
    store.add_missing(network.forward_graph(), config.seed);
    network.load(store);

    const auto& image = setup.dataset().image();
    const std::vector<float> images(static_cast<std::size_t>(batch) * image.bytes(), 0.5F);
    const std::vector<std::int32_t> labels(static_cast<std::size_t>(batch), 0);
    using Clock = std::chrono::steady_clock;
    double fastest = 1e9;
    double spent = 0;
    for (int i = 0; i < 3 && spent < patience; ++i) { // the first one touches fresh memory
        const auto start = Clock::now();
        network.train({images, labels}, {.learning_rate = 0.0, .step = i + 1});
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        fastest = std::min(fastest, seconds);
        spent += seconds;
    }
    return fastest / network.training_flops(batch);
}

} // namespace

double estimated_seconds(RunSetup& setup) {
    const double flops_per_image =
        setup.network->training_flops(setup.config.batch) / static_cast<double>(setup.config.batch);
    // An evaluation is the forward alone, about a third of a step.
    const double images_an_epoch =
        static_cast<double>(setup.sets.train.size()) + static_cast<double>(setup.sets.validation.size()) / 3;
    const double images =
        images_an_epoch * static_cast<double>(setup.config.epochs) + static_cast<double>(setup.sets.test.size()) / 3;
    return images * flops_per_image * seconds_per_flop(setup, flops_per_image);
}

} // namespace espalier
