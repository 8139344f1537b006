// SPDX-License-Identifier: Apache-2.0
#include "data/loader.h"

#include "base/error.h"
#include "data/hash_random.h"

#include <algorithm>
#include <chrono>

namespace espalier {
namespace {

constexpr auto question_distance = std::chrono::milliseconds(50);
constexpr std::uint64_t crop_key = 0x63726f70;

/// Thrown within a thread to leave a half-made batch.
struct Stopped {};

Augmentation augmentation_for(const LoaderSettings& settings) {
    return settings.use == Batches::Use::training ? settings.augmentation : Augmentation{};
}

} // namespace

Loader::Loader(SampleSet set, LoaderSettings settings)
    : set_(std::move(set)), settings_(std::move(settings)), batches_(set_.size(), settings_.batch, settings_.use),
      transform_(set_.dataset->image(), settings_.statistics, augmentation_for(settings_), settings_.seed) {
    if (settings_.threads < 1 || settings_.prefetch < 1)
        throw ConfigError("A loader needs at least 1 thread and 1 batch of prefetch, but " +
                          std::to_string(settings_.threads) + " and " + std::to_string(settings_.prefetch) +
                          " were given.");
    slots_.resize(static_cast<std::size_t>(settings_.prefetch) + 1); // one more for the batch in use
}

Loader::~Loader() { stop(); }

void Loader::start(std::int64_t epoch, std::int64_t index, std::int64_t end_epoch) {
    stop();
    next_ticket_ = given_back_ = handed_out_ = epoch * batches_.count() + index;
    end_ticket_ = end_epoch * batches_.count();
    for (auto& slot : slots_) {
        slot.ready = false;
        slot.error = nullptr;
    }
    stopping_ = false;
    for (int i = 0; i < settings_.threads; ++i)
        threads_.emplace_back([this] { work(); });
}

void Loader::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    room_.notify_all();
    for (auto& thread : threads_)
        thread.join();
    threads_.clear();
    orders_.clear();
}

bool Loader::wait(const std::function<bool()>& leave) {
    std::unique_lock lock(mutex_);
    if (stopping_ || handed_out_ >= end_ticket_)
        return true;
    if (given_back_ < handed_out_) {
        slot_of(given_back_++).ready = false;
        room_.notify_one();
    }
    const auto& slot = slot_of(handed_out_);
    while (!ready_.wait_for(lock, question_distance, [&] { return slot.ready; })) {
        lock.unlock();
        if (leave && leave())
            return false;
        lock.lock();
    }
    return true;
}

const Batch* Loader::next() {
    wait({});
    const std::lock_guard lock(mutex_);
    if (stopping_ || handed_out_ >= end_ticket_)
        return nullptr;
    auto& slot = slot_of(handed_out_);
    if (slot.error) // stays in its slot: asked again, it is thrown again
        std::rethrow_exception(slot.error);
    ++handed_out_;
    return &slot.batch;
}

void Loader::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        const auto slots = static_cast<std::int64_t>(slots_.size());
        room_.wait(lock,
                   [&] { return stopping_ || next_ticket_ >= end_ticket_ || next_ticket_ < given_back_ + slots; });
        if (stopping_ || next_ticket_ >= end_ticket_)
            return;
        const auto ticket = next_ticket_++;
        auto& slot = slot_of(ticket);
        lock.unlock();
        std::exception_ptr error;
        try {
            fill(slot.batch, ticket);
        } catch (const Stopped&) {
            return;
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        slot.error = error;
        slot.ready = true;
        ready_.notify_one();
    }
}

void Loader::fill(Batch& batch, std::int64_t ticket) {
    batch.epoch = ticket / batches_.count();
    batch.index = ticket % batches_.count();
    const auto range = batches_[batch.index];
    const auto order = settings_.use == Batches::Use::training ? order_of(batch.epoch) : nullptr;
    const auto values = set_.dataset->image().bytes();

    batch.count = static_cast<std::int64_t>(range.count);
    batch.images.resize(range.count * values);
    batch.labels.resize(range.count);
    batch.samples.resize(range.count);
    const bool crops = settings_.use == Batches::Use::training && set_.dataset->may_crop();
    std::vector<std::uint8_t> image(values);
    for (std::size_t i = 0; i < range.count; ++i) {
        {
            const std::lock_guard lock(mutex_);
            if (stopping_)
                throw Stopped();
        }
        const auto place = order ? (*order)[range.first + i] : range.first + i;
        const auto sample = set_.indices[place];
        if (crops) // an own draw, so that other sets see the same numbers as ever
            set_.dataset->read_cropped(
                set_.part, sample, HashRandom{settings_.seed, crop_key, std::uint64_t(batch.epoch), sample}.uniform(),
                image);
        else
            set_.read(place, image);
        transform_.apply(image, transform_.draw(batch.epoch, sample),
                         std::span(batch.images).subspan(i * values, values));
        batch.labels[i] = set_.label(place);
        batch.samples[i] = sample;
    }
}

std::shared_ptr<const std::vector<std::uint32_t>> Loader::order_of(std::int64_t epoch) {
    const std::lock_guard lock(mutex_);
    auto& order = orders_[epoch];
    if (!order)
        order = std::make_shared<const std::vector<std::uint32_t>>(epoch_order(set_.size(), settings_.seed, epoch));
    auto found = order;
    while (orders_.size() > 2) // threads are never further apart than that, or make the order once more
        orders_.erase(orders_.begin());
    return found;
}

} // namespace espalier
