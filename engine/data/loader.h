// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/augmentation.h"
#include "data/batches.h"
#include "data/sample_set.h"

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace espalier {

/// Images ready for the network.
struct Batch {
    std::int64_t epoch = 0;             ///< from 0
    std::int64_t index = 0;             ///< within the epoch, from 0
    std::int64_t count = 0;             ///< images in this batch
    std::vector<float> images;          ///< [count, C, H, W], normalised
    std::vector<std::int32_t> labels;   ///< [count]
    std::vector<std::uint32_t> samples; ///< [count], indices in the data set's part
};

struct LoaderSettings {
    std::int64_t batch = 64;
    Batches::Use use = Batches::Use::training; ///< evaluation: in the set's order, without augmentation
    std::uint64_t seed = 1;
    Augmentation augmentation; ///< of training
    ChannelStatistics statistics;
    int threads = 1;
    int prefetch = 3; ///< batches made ahead of the one in use, at most
};

/// Makes batches ahead in threads of its own. The sequence of batches, and every bit in them, is a function of the set
/// and the settings without `threads` and `prefetch`; it can be entered at any point, so a resumed run sees what the
/// uninterrupted one would have seen. All functions are for one consumer thread.
class Loader {
public:
    /// Throws ConfigError if the settings do not fit the set.
    Loader(SampleSet set, LoaderSettings settings);
    /// Stops.
    ~Loader();
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;

    [[nodiscard]] const Batches& batches() const noexcept { return batches_; }
    [[nodiscard]] std::int64_t batches_per_epoch() const noexcept { return batches_.count(); }

    /// Begins with batch `index` of `epoch` and goes on up to the beginning of `end_epoch`. What was begun before is
    /// given up.
    void start(std::int64_t epoch, std::int64_t index, std::int64_t end_epoch);
    /// Waits until the next batch is ready (or there is none to come), so that next() need not. While it waits, `leave`
    /// is asked; false if it says yes: next() would wait then.
    bool wait(const std::function<bool()>& leave);
    /// The next batch, valid until the next call of any function; null after the last one, or if nothing was started.
    /// Waits for it if it is not ready. What a thread threw (DataError for an image that cannot be read) is thrown
    /// here, in place of the batch that it broke.
    const Batch* next();
    /// Ends the threads; they leave after the image that they are at.
    void stop() noexcept;

private:
    struct Slot {
        Batch batch;
        std::exception_ptr error;
        bool ready = false;
    };

    void work();
    void fill(Batch& batch, std::int64_t ticket);
    Slot& slot_of(std::int64_t ticket) { return slots_[static_cast<std::size_t>(ticket) % slots_.size()]; }
    std::shared_ptr<const std::vector<std::uint32_t>> order_of(std::int64_t epoch);

    const SampleSet set_;
    const LoaderSettings settings_;
    const Batches batches_;
    const ImageTransform transform_;

    // A ticket is the number of a batch since epoch 0. Ticket t is made in slot t % slots, which is free once ticket t
    // - slots was given back.
    std::mutex mutex_; ///< guards all that follows
    std::condition_variable room_, ready_;
    std::vector<Slot> slots_;
    std::int64_t next_ticket_ = 0; ///< to be made
    std::int64_t given_back_ = 0;  ///< tickets below this one are done with
    std::int64_t handed_out_ = 0;  ///< the next one for the consumer
    std::int64_t end_ticket_ = 0;
    bool stopping_ = true;
    std::map<std::int64_t, std::shared_ptr<const std::vector<std::uint32_t>>> orders_; ///< of the epochs being made
    std::vector<std::thread> threads_;
};

} // namespace espalier
