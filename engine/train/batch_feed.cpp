// SPDX-License-Identifier: Apache-2.0
#include "train/batch_feed.h"

#include <utility>

namespace espalier {

std::optional<BatchView> LoaderFeed::next() {
    const Batch* batch = loader_.next();
    if (!batch)
        return std::nullopt;
    return BatchView{.images = batch->images, .labels = batch->labels};
}

void DeviceFeed::start(std::int64_t epoch, std::int64_t index, std::int64_t end_epoch) {
    next_ = epoch * batches_.count() + index;
    end_ = end_epoch * batches_.count();
    followed_ = -1; // the memory may have been given back since
}

std::optional<BatchView> DeviceFeed::next() {
    if (next_ >= end_)
        return std::nullopt;
    const auto epoch = next_ / batches_.count();
    if (epoch != followed_) {
        follow_(std::exchange(ahead_, -1) == epoch ? order_ahead_.get() : make_order_(epoch));
        followed_ = epoch;
        if ((epoch + 1) * batches_.count() < end_) {
            ahead_ = epoch + 1;
            order_ahead_ = std::async(std::launch::async, make_order_, ahead_);
        }
    }
    const auto range = batches_[next_++ % batches_.count()];
    return BatchView{.first = static_cast<std::int64_t>(range.first), .count = static_cast<std::int64_t>(range.count)};
}

} // namespace espalier
