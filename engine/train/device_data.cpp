// SPDX-License-Identifier: Apache-2.0
#include "train/device_data.h"

#include "data/batches.h"
#include "graph/builder.h"
#include "graph/image_order.h"
#include "graph/step_block.h"
#include "nn/network_spec.h"

#include <algorithm>

namespace espalier {
namespace {

/// Set by the host before the first step: a constant would be written once more, in floats.
constexpr Initializer set_by_host{Initializer::Kind::uniform, 0.0};

void append_row(std::vector<std::int32_t>& order, std::int64_t image, const ImageTransform::Draw& draw) {
    order.insert(order.end(), {static_cast<std::int32_t>(image), static_cast<std::int32_t>(draw.down),
                               static_cast<std::int32_t>(draw.right), draw.mirrored ? 1 : 0});
}

} // namespace

DeviceData::DeviceData(const RunSets& sets, const ChannelStatistics& statistics, Augmentation augmentation,
                       std::uint64_t seed)
    : training_(sets.train), transform_(sets.train.dataset->image(), statistics, augmentation, seed), seed_(seed) {
    for (const auto* set : {&sets.train, &sets.validation, &sets.test}) {
        if (set->empty())
            continue;
        if (first_.emplace(set->part, images_).second)
            images_ += static_cast<std::int64_t>(set->dataset->size(set->part));
        if (set != &sets.train)
            evaluation_places_ = std::max(evaluation_places_, static_cast<std::int64_t>(set->size()));
    }
}

std::size_t DeviceData::bytes() const {
    const auto places = training_.size() + static_cast<std::size_t>(evaluation_places_);
    return static_cast<std::size_t>(images_) * (image().bytes() + sizeof(std::int32_t)) +
           places * image_order::columns * sizeof(std::int32_t);
}

void DeviceData::read(std::int64_t first, std::span<std::uint8_t> out) const {
    const auto& dataset = *training_.dataset;
    const auto bytes = image().bytes();
    for (const auto& [part, begin] : first_) {
        const auto end = begin + static_cast<std::int64_t>(dataset.size(part));
        for (; first >= begin && first < end && !out.empty(); ++first, out = out.subspan(bytes))
            dataset.read(part, static_cast<std::size_t>(first - begin), out.first(bytes));
    }
}

std::vector<std::int32_t> DeviceData::labels() const {
    std::vector<std::int32_t> labels(static_cast<std::size_t>(images_));
    for (const auto& [part, begin] : first_)
        for (std::size_t i = 0; i < training_.dataset->size(part); ++i)
            labels[static_cast<std::size_t>(begin) + i] = training_.dataset->label(part, i);
    return labels;
}

std::vector<float> DeviceData::values() const {
    std::vector<float> all;
    for (const auto& channel : transform_.values())
        all.insert(all.end(), channel.begin(), channel.end());
    return all;
}

std::vector<std::int32_t> DeviceData::training_order(std::int64_t epoch) const {
    std::vector<std::int32_t> order;
    order.reserve(training_.size() * image_order::columns);
    const auto begin = first_of(training_.part);
    for (const auto place : epoch_order(training_.size(), seed_, epoch)) {
        const auto sample = training_.indices[place];
        append_row(order, begin + sample, transform_.draw(epoch, sample));
    }
    return order;
}

std::vector<std::int32_t> DeviceData::evaluation_order(const SampleSet& set) const {
    std::vector<std::int32_t> order;
    order.reserve(set.size() * image_order::columns);
    for (const auto sample : set.indices)
        append_row(order, first_of(set.part) + sample, {});
    return order;
}

void DeviceData::feed(ForwardGraph& forward, Use use) const {
    auto& graph = forward.graph;
    GraphBuilder builder(graph);
    const auto& shape = image();
    const bool training = use == Use::training;
    const std::vector<TensorId> inputs{
        step_buffer(builder),
        builder.buffer(pixels_name, {images_, shape.channels, shape.height, shape.width}, set_by_host, DType::u8),
        builder.buffer(labels_name, {images_}, set_by_host, DType::i32),
        builder.buffer(values_name, {shape.channels, byte_values}, set_by_host),
        builder.buffer(
            training ? training_order_name : evaluation_order_name,
            {training ? static_cast<std::int64_t>(training_.size()) : evaluation_places_, image_order::columns},
            set_by_host, DType::i32)};
    const GraphBuilder::Scope scope(builder, "data");
    const auto batch = builder.apply("gather_images", inputs, {{"batch", graph.shape(forward.images)[0]}});

    std::vector<Op> ops(graph.ops().begin(), graph.ops().end());
    std::ranges::rotate(ops, ops.end() - 1);
    for (auto& op : ops) {
        std::ranges::replace(op.inputs, forward.images, batch[0]);
        std::ranges::replace(op.inputs, forward.labels, batch[1]);
    }
    graph.set_ops(std::move(ops));
}

} // namespace espalier
