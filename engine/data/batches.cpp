// SPDX-License-Identifier: Apache-2.0
#include "data/batches.h"

#include "base/counted.h"
#include "base/error.h"
#include "data/hash_random.h"

#include <algorithm>
#include <numeric>

namespace espalier {

Batches::Batches(std::size_t images, std::int64_t batch, Use use)
    : images_(images), batch_(static_cast<std::size_t>(batch)) {
    if (batch < 1)
        throw ConfigError("batch must be at least 1, but is " + std::to_string(batch) + ".");
    if (use == Use::training && batch_ > images)
        throw ConfigError("batch is " + std::to_string(batch) + ", but there are only " + std::to_string(images) +
                          " training images. Choose a smaller batch.");
    count_ = static_cast<std::int64_t>((images + batch_ - 1) / batch_);
    const auto rest = images % batch_;
    if (use == Use::evaluation || rest == 0 || 2 * rest >= std::max<std::size_t>(batch_, 3))
        return;
    if (batch_ == 2)
        --count_;
    else
        shared_ = batch_ + rest;
}

Batches::Range Batches::operator[](std::int64_t index) const noexcept {
    const auto at = static_cast<std::size_t>(index);
    if (shared_ != 0 && index == count_ - 2)
        return {at * batch_, shared_ - shared_ / 2};
    if (shared_ != 0 && index == count_ - 1)
        return {images_ - shared_ / 2, shared_ / 2};
    return {at * batch_, std::min(batch_, images_ - at * batch_)};
}

std::vector<std::int64_t> Batches::sizes() const {
    std::vector<std::int64_t> sizes;
    const auto add = [&](std::int64_t index) {
        const auto size = static_cast<std::int64_t>((*this)[index].count);
        if (sizes.empty() || sizes.back() != size)
            sizes.push_back(size);
    };
    if (count_ > 0)
        add(0);
    for (auto index = std::max<std::int64_t>(1, count_ - 2); index < count_; ++index)
        add(index);
    return sizes;
}

std::string last_batch_note(std::size_t images, std::int64_t batch) {
    const Batches batches(images, batch, Batches::Use::training);
    const auto sizes = batches.sizes();
    const auto rest = images % static_cast<std::size_t>(batch);
    if (rest == 0)
        return {};
    const auto whole = counted(images, "image") + " in batches of " + std::to_string(batch) + " leave " +
                       std::to_string(rest) + " over. ";
    if (batch == 2)
        return whole + "A batch of one is no use, so one image, another one each epoch, sits out.";
    const auto last = batches[batches.count() - 1].count;
    if (last == rest)
        return whole + "The last batch of each epoch has " + std::to_string(rest) + ".";
    const auto before = batches[batches.count() - 2].count;
    return whole +
           "They are too few for a batch of their own, so the last two batches of each epoch share the images: " +
           std::to_string(before) + " and " + std::to_string(last) + ".";
}

FittedBatch fitted_batch(std::size_t images, std::int64_t batch) {
    if (batch < 1)
        throw ConfigError("batch must be at least 1, but is " + std::to_string(batch) + ".");
    if (images < 2)
        throw DataError("Training needs at least 2 images, but there " +
                        std::string(images == 1 ? "is 1." : "are none."));
    if (static_cast<std::size_t>(batch) <= images)
        return {batch, {}};
    return {static_cast<std::int64_t>(images), "The batch of " + std::to_string(batch) +
                                                   " is larger than the training set, so all " +
                                                   counted(images, "image") + " make one batch."};
}

std::vector<std::uint32_t> epoch_order(std::size_t size, std::uint64_t seed, std::int64_t epoch) {
    std::vector<std::uint32_t> order(size);
    std::iota(order.begin(), order.end(), 0u);
    HashRandom random{seed, 0x6f72646572, static_cast<std::uint64_t>(epoch)};
    for (std::size_t i = size; i > 1;
         --i) // Fisher and Yates; std::shuffle may differ from one standard library to the next
        std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

} // namespace espalier
