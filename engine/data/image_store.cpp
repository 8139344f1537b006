// SPDX-License-Identifier: Apache-2.0
#include "data/image_store.h"

#include <cstring>
#include <stdexcept>

namespace espalier {

std::uint64_t ImageStore::add(std::span<const std::uint8_t> bytes) {
    if (bytes.size() > block_bytes)
        throw std::length_error("An image of more than 64 MiB cannot be stored.");
    std::uint8_t* target = nullptr;
    std::uint64_t place = 0;
    {
        const std::lock_guard lock(mutex_);
        if (block_bytes - used_ < bytes.size()) {
            blocks_.push_back(std::make_unique_for_overwrite<std::uint8_t[]>(block_bytes));
            used_ = 0;
        }
        target = blocks_.back().get() + used_;
        place = (blocks_.size() - 1) * std::uint64_t{block_bytes} + used_;
        used_ += bytes.size();
    }
    std::memcpy(target, bytes.data(), bytes.size());
    return place;
}

void ImageStore::read(std::uint64_t place, std::span<std::uint8_t> out) const {
    const std::uint8_t* block = nullptr;
    {
        const std::lock_guard lock(mutex_);
        block = blocks_.at(place / block_bytes).get();
    }
    std::memcpy(out.data(), block + place % block_bytes, out.size());
}

} // namespace espalier
