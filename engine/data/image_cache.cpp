// SPDX-License-Identifier: Apache-2.0
#include "data/image_cache.h"

#include "base/error.h"
#include "data/content_hash.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>

namespace espalier {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t format_version = 4; // of the file, and of what decoding does to an image
constexpr std::string_view ending = ".images", unfinished = ".part";
constexpr auto abandoned = std::chrono::hours(24); // age of an unfinished file whose process has died
constexpr std::string_view magic = "ESPIMG01";

/// The last bytes of a file.
struct Footer {
    std::uint64_t index_at = 0, index_bytes = 0, index_hash = 0;
    char magic[8] = {};
};

std::uint64_t hash_of(std::span<const std::uint8_t> bytes) {
    ContentHash hash;
    hash.add(bytes);
    return hash.value();
}

template <typename Value>
void append(std::vector<std::uint8_t>& bytes, const Value& value) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof value);
}

/// Takes values from the front of an index; damaged ones were sorted out by its hash.
class IndexReader {
public:
    explicit IndexReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
    template <typename Value>
    Value take() {
        Value value{};
        std::memcpy(&value, front(sizeof value).data(), sizeof value);
        return value;
    }
    std::string take_text() {
        const auto bytes = front(take<std::uint32_t>());
        return {bytes.begin(), bytes.end()};
    }

private:
    std::span<const std::uint8_t> front(std::size_t size) {
        if (rest_.size() < size)
            throw DataError("The index ends too early.");
        const auto bytes = rest_.first(size);
        rest_ = rest_.subspan(size);
        return bytes;
    }
    std::span<const std::uint8_t> rest_;
};

/// A process that was killed leaves what it had decoded, which may be as large as the set.
void remove_abandoned(const fs::path& folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.path().extension() == unfinished &&
            entry.last_write_time(error) < fs::file_time_type::clock::now() - abandoned && !error)
            fs::remove(entry.path(), error);
}

std::vector<std::uint8_t> index_of(const DecodedImages& decoded) {
    std::vector<std::uint8_t> index;
    for (const auto& part : decoded.images)
        for (const auto& one : part) {
            append(index, one.place);
            append(index, one.hash);
            append(index, one.height);
            append(index, one.width);
            append(index, static_cast<std::uint32_t>(one.fault.size()));
            index.insert(index.end(), one.fault.begin(), one.fault.end());
        }
    return index;
}

std::optional<Footer> footer_of(std::ifstream& file, std::uint64_t size) {
    Footer footer;
    if (size < sizeof footer)
        return std::nullopt;
    file.seekg(static_cast<std::streamoff>(size - sizeof footer));
    file.read(reinterpret_cast<char*>(&footer), sizeof footer);
    if (!file || std::string_view(footer.magic, sizeof footer.magic) != magic || footer.index_at > size ||
        footer.index_bytes > size - footer.index_at || footer.index_at + footer.index_bytes + sizeof footer != size)
        return std::nullopt;
    return footer;
}

/// Whether every image has the pixels that it had.
bool is_whole(const DecodedImages& decoded, std::uint64_t end, const WorkWatch& watch) {
    std::vector<const DecodedImage*> good;
    for (const auto& part : decoded.images)
        for (const auto& one : part)
            if (one.fault.empty())
                good.push_back(&one);
    std::atomic<bool> whole = true;
    for_each_image(good.size(), watch, [&](std::size_t i) {
        const auto& one = *good[i];
        const auto size = 3 * static_cast<std::uint64_t>(one.height) * static_cast<std::uint64_t>(one.width);
        if (one.height < 1 || one.width < 1 || size > end || one.place > end - size ||
            one.place % ImageStore::block_bytes + size > ImageStore::block_bytes) {
            whole = false;
            return;
        }
        std::vector<std::uint8_t> pixels(static_cast<std::size_t>(size));
        decoded.store->read(one.place, pixels);
        if (hash_of(pixels) != one.hash)
            whole = false;
    });
    return whole;
}

} // namespace

ImageCache::ImageCache(fs::path folder, const FileListing& listing, const ImageShape& shape, const WorkWatch& watch)
    : folder_(std::move(folder)) {
    ContentHash key;
    key.add(format_version);
    key.add(shape.text());
    std::size_t seen = 0;
    for (std::size_t part = 0; part < counts_.size(); ++part) {
        counts_[part] = listing.images[part].size();
        key.add(std::uint64_t{counts_[part]});
        for (const auto& image : listing.images[part]) {
            if (++seen % 256 == 0)
                watch.check();
            std::error_code error;
            key.add(fs::absolute(image.path, error).string());
            key.add(std::uint64_t{fs::file_size(image.path, error)});
            key.add(static_cast<std::uint64_t>(fs::last_write_time(image.path, error).time_since_epoch().count()));
        }
    }
    key_ = key.text();
}

fs::path ImageCache::file() const { return folder_ / (key_ + std::string(ending)); }

std::unique_ptr<ImageStore> ImageCache::new_store(std::size_t memory) const {
    std::error_code ignored;
    const auto folder = folder_.empty() ? fs::temp_directory_path(ignored) : folder_;
    if (!folder_.empty())
        remove_abandoned(folder_);
    std::random_device random; // two runs may decode the same set at the same time
    return std::make_unique<ImageStore>(memory,
                                        folder / (key_ + "-" + std::to_string(random()) + std::string(unfinished)));
}

std::optional<DecodedImages> ImageCache::load(std::size_t memory, const WorkWatch& watch) const {
    std::error_code error;
    const auto path = file();
    const auto size = folder_.empty() ? 0 : fs::file_size(path, error);
    if (folder_.empty() || error)
        return std::nullopt;
    try {
        std::ifstream stream(path, std::ios::binary);
        const auto footer = footer_of(stream, size);
        if (!footer)
            throw DataError("The end is missing.");
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(footer->index_bytes));
        stream.seekg(static_cast<std::streamoff>(footer->index_at));
        stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        if (!stream || hash_of(bytes) != footer->index_hash)
            throw DataError("The index is damaged.");
        DecodedImages decoded;
        IndexReader index(bytes);
        for (std::size_t part = 0; part < counts_.size(); ++part)
            for (std::size_t i = 0; i < counts_[part]; ++i) {
                DecodedImage one{.place = index.take<std::uint64_t>(),
                                 .hash = index.take<std::uint64_t>(),
                                 .height = index.take<std::int32_t>(),
                                 .width = index.take<std::int32_t>(),
                                 .fault = {}};
                one.fault = index.take_text();
                decoded.images[part].push_back(std::move(one));
            }
        decoded.store = std::make_unique<ImageStore>(memory, path, footer->index_at);
        if (!is_whole(decoded, footer->index_at, watch))
            throw DataError("The images are damaged.");
        fs::last_write_time(path, fs::file_time_type::clock::now(), error); // used last now
        return decoded;
    } catch (const DataError&) {
        fs::remove(path, error);
        return std::nullopt;
    }
}

bool ImageCache::keep(const DecodedImages& decoded) const {
    if (folder_.empty() || decoded.store->end() == 0)
        return false;
    auto trailer = index_of(decoded);
    Footer footer{.index_at = decoded.store->end(), .index_bytes = trailer.size(), .index_hash = hash_of(trailer)};
    magic.copy(footer.magic, sizeof footer.magic);
    append(trailer, footer);
    try {
        if (!make_room(footer.index_at + trailer.size()))
            return false;
        decoded.store->keep(trailer, file());
        return true;
    } catch (const Error&) {
        return false; // the run goes on without
    }
}

bool ImageCache::make_room(std::uint64_t bytes) const {
    struct Kept {
        fs::file_time_type used;
        fs::path path;
        std::uint64_t bytes;
    };
    std::error_code error;
    fs::create_directories(folder_, error);
    std::vector<Kept> kept;
    std::uint64_t total = 0;
    for (const auto& entry : fs::directory_iterator(folder_, error))
        if (entry.path().extension() == ending) {
            kept.push_back({entry.last_write_time(error), entry.path(), entry.file_size(error)});
            total += kept.back().bytes;
        }
    const auto most = (fs::space(folder_, error).available + total) / 2;
    std::ranges::sort(kept, {}, &Kept::used);
    for (const auto& one : kept) {
        if (total + bytes <= most)
            break;
        if (fs::remove(one.path, error))
            total -= one.bytes;
    }
    return total + bytes <= most;
}

} // namespace espalier
