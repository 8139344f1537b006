// SPDX-License-Identifier: Apache-2.0
#include "train/time_estimate.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <random>

namespace espalier {
namespace {

constexpr double first_try = 0.1e9; // FLOPs of the step that tells how many images there is time for
constexpr double patience = 0.3;    // seconds; on a busy machine a rougher answer is better than a late one

/// Seconds of a training step of so many images: the fastest of a few, within the patience.
double step_seconds(RunSetup& setup, std::int64_t batch) {
    RunConfig config = setup.config;
    config.accumulation = 1;
    config.batch = batch;
    NetworkSession network(*setup.backend, config);
    network.prepare_training(batch);
    ParameterStore store;
    store.add_missing(network.forward_graph(), config.seed);
    network.load(store);

    const auto& image = setup.dataset().image();
    // Noise rather than equal images, which batch norm would turn into zeros.
    std::vector<float> images(static_cast<std::size_t>(batch) * image.bytes());
    std::mt19937 random(1);
    std::normal_distribution<float> noise;
    std::ranges::generate(images, [&] { return noise(random); });
    const std::vector<std::int32_t> labels(static_cast<std::size_t>(batch), 0);
    using Clock = std::chrono::steady_clock;
    double fastest = 1e9;
    double spent = 0;
    // The first one touches fresh memory; of short ones many, since the window that asks is busy at the same time.
    for (int i = 0; i < 50 && (i < 2 || spent < patience / 2); ++i) {
        const auto start = Clock::now();
        network.train({images, labels}, {.learning_rate = 0.0, .step = i + 1});
        static_cast<void>(network.take_history()); // waits for the device
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        fastest = std::min(fastest, seconds);
        spent += seconds;
        if (seconds > patience)
            break;
    }
    return fastest;
}

/// Seconds that an image takes in training: from a step of the run's own size if there is time for one, since small
/// steps use the processor worse; else of the largest size that there is time for.
double seconds_per_image(RunSetup& setup, double flops_per_image) {
    // Fit checks of several presets come at once; each would measure the others.
    static std::mutex one_at_a_time;
    const std::lock_guard guard(one_at_a_time);
    const std::int64_t whole = std::max<std::int64_t>(2, setup.config.batch);
    auto batch =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(first_try / std::max(1.0, flops_per_image)), 2, whole);
    double seconds = step_seconds(setup, batch);
    const auto affordable =
        static_cast<std::int64_t>(patience / 2 / std::max(seconds, 1e-6) * static_cast<double>(batch));
    if (const auto larger = std::min(whole, affordable); larger > batch) {
        batch = larger;
        seconds = step_seconds(setup, batch);
    }
    return seconds / static_cast<double>(batch);
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
    return images * seconds_per_image(setup, flops_per_image);
}

} // namespace espalier
