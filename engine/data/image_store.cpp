// SPDX-License-Identifier: Apache-2.0
#include "data/image_store.h"

#include "base/error.h"

#include <algorithm>
#include <cstring>

namespace espalier {

namespace fs = std::filesystem;

ImageStore::ImageStore(std::size_t memory, fs::path file)
    : most_blocks_(memory == 0 ? SIZE_MAX : std::max<std::size_t>(1, memory / block_bytes)), path_(std::move(file)) {}

ImageStore::ImageStore(std::size_t memory, fs::path file, std::uint64_t bytes) : ImageStore(memory, std::move(file)) {
    file_.open(path_, std::ios::binary | std::ios::in);
    blocks_.resize(static_cast<std::size_t>((bytes + block_bytes - 1) / block_bytes));
    used_ = static_cast<std::size_t>(bytes - (blocks_.size() - 1) * std::uint64_t{block_bytes});
    if (blocks_.size() > most_blocks_)
        return;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const auto size = i + 1 < blocks_.size() ? block_bytes : used_;
        auto block = std::make_unique_for_overwrite<std::uint8_t[]>(size);
        read(i * std::uint64_t{block_bytes}, {block.get(), size});
        blocks_[i].bytes = std::move(block);
    }
    file_.close();
}

ImageStore::~ImageStore() {
    file_.close();
    std::error_code ignored;
    if (temporary_)
        fs::remove(path_, ignored);
}

std::uint64_t ImageStore::add(std::span<const std::uint8_t> bytes) {
    if (bytes.size() > block_bytes)
        throw DataError("An image of more than 64 MiB cannot be kept. Set a smaller image_size.");
    std::unique_lock lock(mutex_);
    if (block_bytes - used_ < bytes.size()) {
        make_room();
        blocks_.push_back({std::make_unique_for_overwrite<std::uint8_t[]>(block_bytes), 0});
        used_ = 0;
    }
    const auto index = blocks_.size() - 1;
    auto* target = blocks_[index].bytes.get() + used_;
    const auto place = index * std::uint64_t{block_bytes} + used_;
    used_ += bytes.size();
    ++blocks_[index].writers;
    lock.unlock();
    std::memcpy(target, bytes.data(), bytes.size());
    lock.lock();
    --blocks_[index].writers;
    return place;
}

void ImageStore::read(std::uint64_t place, std::span<std::uint8_t> out) const {
    std::unique_lock lock(mutex_);
    if (const auto* block = blocks_.at(static_cast<std::size_t>(place / block_bytes)).bytes.get()) {
        lock.unlock();
        std::memcpy(out.data(), block + place % block_bytes, out.size());
        return;
    }
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(place));
    file_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    if (!file_)
        throw DataError("The decoded images in '" + path_.string() + "' cannot be read. Is the disk still there?");
}

std::uint64_t ImageStore::end() const {
    const std::lock_guard lock(mutex_);
    return blocks_.empty() ? 0 : (blocks_.size() - 1) * std::uint64_t{block_bytes} + used_;
}

void ImageStore::keep(std::span<const std::uint8_t> trailer, const fs::path& name) {
    const auto at = end();
    const std::lock_guard lock(mutex_);
    if (!file_.is_open())
        begin_file();
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        if (blocks_[i].bytes)
            write_block(i);
    file_.seekp(static_cast<std::streamoff>(at));
    file_.write(reinterpret_cast<const char*>(trailer.data()), static_cast<std::streamsize>(trailer.size()));
    if (!file_.flush())
        throw Error("The decoded images cannot be written to '" + path_.string() + "'. Is the disk full?");
    std::error_code error;
    fs::rename(path_, name, error);
    if (error)
        throw Error("The decoded images cannot be named '" + name.string() + "': " + error.message() + ".");
    path_ = name;
    temporary_ = false;
}

/// Moves full blocks that nobody writes into to the file, if memory holds as many as it may.
void ImageStore::make_room() {
    const auto held = std::ranges::count_if(blocks_, [](const Block& block) { return block.bytes != nullptr; });
    if (static_cast<std::size_t>(held) < most_blocks_)
        return;
    if (!file_.is_open())
        begin_file();
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        if (blocks_[i].bytes && blocks_[i].writers == 0) {
            write_block(i);
            blocks_[i].bytes.reset();
        }
}

void ImageStore::begin_file() {
    std::error_code ignored;
    fs::create_directories(path_.parent_path(), ignored);
    file_.open(path_, std::ios::binary | std::ios::in | std::ios::out | std::ios::trunc);
    if (!file_)
        throw Error("The decoded images do not fit into memory, and '" + path_.string() +
                    "' cannot be written. Set a smaller image_size, or XDG_CACHE_HOME to a folder with room.");
    temporary_ = true;
}

void ImageStore::write_block(std::size_t index) {
    const auto size = index + 1 < blocks_.size() ? block_bytes : used_;
    file_.seekp(static_cast<std::streamoff>(index * std::uint64_t{block_bytes}));
    file_.write(reinterpret_cast<const char*>(blocks_[index].bytes.get()), static_cast<std::streamsize>(size));
    if (!file_)
        throw Error("The decoded images cannot be written to '" + path_.string() + "'. Is the disk full?");
}

} // namespace espalier
