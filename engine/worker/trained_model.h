// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/loader.h"
#include "data/resize.h"
#include "data/sample_set.h"
#include "io/checkpoint.h"
#include "train/network_session.h"
#include "train/run_state.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace espalier {

/// A checkpoint's network made ready to be used.
class TrainedModel {
public:
    /// Throws CheckpointError for a damaged file, ConfigError if no backend runs the network.
    explicit TrainedModel(const std::filesystem::path& checkpoint, const std::string& backend = "auto")
        : TrainedModel(load_checkpoint(checkpoint), backend) {}
    explicit TrainedModel(Checkpoint checkpoint, const std::string& backend = "auto",
                          const std::string& precision = "auto");

    [[nodiscard]] const CheckpointInfo& info() const { return checkpoint_.info; }

    struct ClassProbability {
        std::string name;
        double probability = 0;
    };
    /// The most probable class first. The image is brought to the network's size as training does it; it must have the
    /// network's channels.
    [[nodiscard]] std::vector<ClassProbability> predict(const Image& image);

    /// Probability of each class for each of `count` images [count, C, H, W] of the network's size, row after row.
    [[nodiscard]] std::vector<float> probabilities(std::span<const std::uint8_t> pixels, std::int64_t count);

    /// Loss and accuracy over a set; nothing if `leave` said yes in between. Throws DataError if images or classes are
    /// not those of the network.
    [[nodiscard]] std::optional<Totals> evaluate(const SampleSet& set, const std::function<bool()>& leave = {});

    /// Receives an image's place in a set, and the probability of each class.
    using EachImage = std::function<void(std::size_t place, std::span<const float> probabilities)>;
    /// Calls `each` for every image of the set, in its order. False if `leave` said yes in between. Throws as
    /// evaluate().
    [[nodiscard]] bool examine(const SampleSet& set, const EachImage& each, const std::function<bool()>& leave = {});

private:
    void make_ready(std::int64_t batch);
    void check_fits(const SampleSet& set) const;
    [[nodiscard]] LoaderSettings loader_settings(const SampleSet& set) const;

    Checkpoint checkpoint_;
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<NetworkSession> network_;
    bool is_loaded_ = false;
};

} // namespace espalier
