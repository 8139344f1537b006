// SPDX-License-Identifier: Apache-2.0
#include "worker/trained_model.h"

#include "base/counted.h"
#include "base/error.h"
#include "train/evaluation.h"
#include "train/run_setup.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr std::int64_t evaluation_batch = 64;

RunConfig config_for(const CheckpointInfo& info, const std::string& backend, const std::string& precision) {
    RunConfig config;
    config.network = info.network;
    config.backend = backend;
    config.toggles.precision = precision;
    config.batch = 2; // chooses the backend by the ops alone
    return config;
}

} // namespace

TrainedModel::TrainedModel(Checkpoint checkpoint, const std::string& backend, const std::string& precision)
    : checkpoint_(std::move(checkpoint)) {
    const auto config = config_for(checkpoint_.info, backend, precision);
    backend_ = backend_for(config);
    network_ = std::make_unique<NetworkSession>(*backend_, config);
}

void TrainedModel::make_ready(std::int64_t batch) {
    network_->prepare_evaluation(batch);
    if (!std::exchange(is_loaded_, true))
        network_->load(checkpoint_.store);
}

std::vector<TrainedModel::ClassProbability> TrainedModel::predict(const Image& image) {
    const auto& info = checkpoint_.info;
    const auto& spec = info.network;
    if (image.shape.channels != spec.channels)
        throw DataError("The network takes images of " + counted(spec.channels, "channel") + ", this one has " +
                        std::to_string(image.shape.channels) + ".");
    const auto probable = probabilities(covering(image, spec.height, spec.width).pixels, 1);
    std::vector<ClassProbability> classes;
    for (std::size_t i = 0; i < probable.size(); ++i)
        classes.push_back({i < info.class_names.size() ? info.class_names[i] : std::to_string(i), probable[i]});
    std::stable_sort(classes.begin(), classes.end(),
                     [](const auto& a, const auto& b) { return a.probability > b.probability; });
    return classes;
}

std::vector<float> TrainedModel::probabilities(std::span<const std::uint8_t> pixels, std::int64_t count) {
    const auto& info = checkpoint_.info;
    const auto plane = static_cast<std::size_t>(info.network.height * info.network.width);
    const auto channels = static_cast<std::size_t>(info.network.channels);
    std::vector<float> values(pixels.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto channel = i / plane % channels;
        values[i] = static_cast<float>((pixels[i] / 255.0 - info.mean.at(channel)) / info.deviation.at(channel));
    }
    make_ready(count);
    return network_->probabilities(values, count);
}

void TrainedModel::check_fits(const SampleSet& set) const {
    const auto& spec = checkpoint_.info.network;
    const auto& image = set.dataset->image();
    const ImageShape wanted{spec.channels, spec.height, spec.width};
    if (image != wanted || static_cast<std::int64_t>(set.dataset->classes()) != spec.classes)
        throw DataError("The network was trained on " + wanted.text() + " images of " +
                        counted(spec.classes, "class", "classes") + "; this data set has " + image.text() +
                        " images of " + std::to_string(set.dataset->classes()) + ".");
}

LoaderSettings TrainedModel::loader_settings(const SampleSet& set) const {
    return {.batch = std::min(evaluation_batch, static_cast<std::int64_t>(set.size())),
            .use = Batches::Use::evaluation,
            .statistics = {checkpoint_.info.mean, checkpoint_.info.deviation}};
}

std::optional<Totals> TrainedModel::evaluate(const SampleSet& set, const std::function<bool()>& leave) {
    check_fits(set);
    const auto settings = loader_settings(set);
    LoaderFeed feed(set, settings);
    for (const auto size : feed.batches().sizes())
        network_->prepare_evaluation(size);
    make_ready(settings.batch);
    return espalier::evaluate(*network_, feed, leave, leave);
}

bool TrainedModel::examine(const SampleSet& set, const EachImage& each, const std::function<bool()>& leave) {
    check_fits(set);
    Loader loader(set, loader_settings(set));
    for (const auto size : loader.batches().sizes())
        network_->prepare_evaluation(size);
    make_ready(loader.batches().sizes().front());
    const auto classes = static_cast<std::size_t>(checkpoint_.info.network.classes);
    loader.start(0, 0, 1);
    std::size_t place = 0;
    for (;;) {
        if (!loader.wait(leave))
            return false;
        const Batch* batch = loader.next();
        if (!batch)
            return true;
        const auto probabilities = network_->probabilities(batch->images, batch->count);
        for (std::size_t i = 0; i < static_cast<std::size_t>(batch->count); ++i)
            each(place++, std::span(probabilities).subspan(i * classes, classes));
        if (leave && leave())
            return false;
    }
}

} // namespace espalier
