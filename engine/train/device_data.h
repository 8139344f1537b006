// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/augmentation.h"
#include "data/sample_set.h"
#include "graph/graph.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace espalier {

struct ForwardGraph;

/// The images of a run's sets as bytes, to be kept in the device's memory: a step then gathers and augments its batch
/// itself (op gather_images), and nothing is sent to it but its place in the order. The batches have the bits that
/// Loader gives.
class DeviceData {
public:
    /// `augmentation` is that of training; evaluation has none. Throws ConfigError as ImageTransform does.
    DeviceData(const RunSets& sets, const ChannelStatistics& statistics, Augmentation augmentation, std::uint64_t seed);

    [[nodiscard]] const ImageShape& image() const { return training_.dataset->image(); }
    /// Of all parts that the sets take images from, one part after another.
    [[nodiscard]] std::int64_t images() const { return images_; }
    /// What it takes on a device: pixels, labels and orders.
    [[nodiscard]] std::size_t bytes() const;

    /// Writes the images from `first` on, as many as `out` holds. Throws DataError if one cannot be read.
    void read(std::int64_t first, std::span<std::uint8_t> out) const;
    [[nodiscard]] std::vector<std::int32_t> labels() const;
    /// What each byte becomes, [C, 256].
    [[nodiscard]] std::vector<float> values() const;

    /// Rows of image_order: the training set as Loader gives it in that epoch; another of the sets as it is.
    [[nodiscard]] std::vector<std::int32_t> training_order(std::int64_t epoch) const;
    [[nodiscard]] std::vector<std::int32_t> evaluation_order(const SampleSet& set) const;

    enum class Use { training, evaluation };
    /// Puts gather_images in the place of the graph's inputs "images" and "labels".
    void feed(ForwardGraph& forward, Use use) const;

    // The buffers of such a graph.
    static constexpr const char* pixels_name = "data.pixels";
    static constexpr const char* labels_name = "data.labels";
    static constexpr const char* values_name = "data.values";
    static constexpr const char* training_order_name = "data.training_order";
    static constexpr const char* evaluation_order_name = "data.evaluation_order";
    [[nodiscard]] static bool is_buffer(const std::string& name) { return name.starts_with("data."); }

    /// A step is told its first place in a float (graph/step_block.h), which counts so far; an order has no more places
    /// than there are images.
    static constexpr std::int64_t most_images = std::int64_t{1} << 24;

private:
    [[nodiscard]] std::int64_t first_of(Part part) const { return first_.at(part); }

    SampleSet training_;
    std::int64_t evaluation_places_ = 0; ///< images of the largest other set
    std::map<Part, std::int64_t> first_; ///< of the parts that are used
    std::int64_t images_ = 0;
    ImageTransform transform_;
    std::uint64_t seed_;
};

} // namespace espalier
