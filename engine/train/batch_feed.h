// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/loader.h"
#include "train/network_session.h"

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <vector>

namespace espalier {

/// Where the batches of a loop come from. The sequence, and every bit in it, is the same from every feed.
class BatchFeed {
public:
    BatchFeed() = default;
    BatchFeed(const BatchFeed&) = delete;
    BatchFeed& operator=(const BatchFeed&) = delete;
    virtual ~BatchFeed() = default;

    /// As Loader::start, wait, next and stop.
    virtual void start(std::int64_t epoch, std::int64_t index, std::int64_t end_epoch) = 0;
    virtual bool wait(const std::function<bool()>& leave) = 0;
    virtual std::optional<BatchView> next() = 0;
    virtual void stop() noexcept = 0;
};

/// Batches that the host makes.
class LoaderFeed final : public BatchFeed {
public:
    LoaderFeed(SampleSet set, LoaderSettings settings) : loader_(std::move(set), std::move(settings)) {}

    void start(std::int64_t epoch, std::int64_t index, std::int64_t end_epoch) override {
        loader_.start(epoch, index, end_epoch);
    }
    bool wait(const std::function<bool()>& leave) override { return loader_.wait(leave); }
    std::optional<BatchView> next() override;
    void stop() noexcept override { loader_.stop(); }
    [[nodiscard]] const Batches& batches() const { return loader_.batches(); }

private:
    Loader loader_;
};

/// Places in the order of the data that a session has on its device.
class DeviceFeed final : public BatchFeed {
public:
    /// Makes the order of an epoch (rows of DeviceData), in a thread of its own too: the next epoch's is made ahead.
    using MakeOrder = std::function<std::vector<std::int32_t>(std::int64_t epoch)>;
    /// Brings it to the device.
    using Follow = std::function<void(const std::vector<std::int32_t>& order)>;

    DeviceFeed(Batches batches, MakeOrder make_order, Follow follow)
        : batches_(batches), make_order_(std::move(make_order)), follow_(std::move(follow)) {}

    void start(std::int64_t epoch, std::int64_t index, std::int64_t end_epoch) override;
    bool wait(const std::function<bool()>&) override { return true; }
    std::optional<BatchView> next() override;
    void stop() noexcept override { next_ = end_; }

private:
    Batches batches_;
    MakeOrder make_order_;
    Follow follow_;
    std::int64_t next_ = 0, end_ = 0; ///< batches since epoch 0
    std::int64_t followed_ = -1;      ///< epoch whose order is there
    std::int64_t ahead_ = -1;         ///< epoch whose order is being made
    std::future<std::vector<std::int32_t>> order_ahead_;
};

} // namespace espalier
