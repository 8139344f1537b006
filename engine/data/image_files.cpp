// SPDX-License-Identifier: Apache-2.0
#include "data/image_files.h"

#include "base/error.h"
#include "data/content_hash.h"
#include "data/image_cache.h"
#include "data/image_decoder.h"
#include "data/readable_text.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace espalier {
namespace {

constexpr std::int64_t channels = 3;
constexpr std::int64_t largest_side = 1024; // as image_size of a run's configuration
constexpr std::int64_t longest = 2;         // times as long as the set's size is what is kept of an image

/// Where the middle part of `size` begins in `length`.
std::int64_t middle(std::int64_t length, std::int64_t size) { return (length - size) / 2; }

/// The file as it is kept: scaled to cover the shape, with what it has beyond it.
Image decode_for(const std::filesystem::path& path, const ImageShape& shape, ImageShape* original = nullptr) {
    const auto image = decode_image_file(path, channels, std::max(shape.height, shape.width), original);
    const auto whole = covering_size(image.shape, shape.height, shape.width);
    const auto height = std::min(whole.height, longest * shape.height);
    const auto width = std::min(whole.width, longest * shape.width);
    // Its own middle must be where the middle of the whole image is.
    return resized_part(image, whole.height, whole.width,
                        {middle(whole.height, shape.height) - middle(height, shape.height),
                         middle(whole.width, shape.width) - middle(width, shape.width), height, width});
}

/// `place` 0 to 1 of what is too long; the middle without it.
void cut_into(const Image& image, const ImageShape& shape, std::optional<double> place, std::span<std::uint8_t> out) {
    const auto begin = [place](std::int64_t length, std::int64_t size) {
        const auto last = length - size;
        return place
                   ? std::clamp<std::int64_t>(std::llround(std::floor(*place * static_cast<double>(last + 1))), 0, last)
                   : middle(length, size);
    };
    const auto cut = cut_out(image, begin(image.shape.height, shape.height), begin(image.shape.width, shape.width),
                             shape.height, shape.width);
    std::ranges::copy(cut.pixels, out.begin());
}

/// Image files that are decoded whenever they are read.
class ImageFiles : public Dataset {
public:
    ImageFiles(DatasetInfo info, FileListing listing) : Dataset(std::move(info)), listing_(std::move(listing)) {}

    [[nodiscard]] std::size_t size(Part part) const override { return listing_.of(part).size(); }
    [[nodiscard]] std::int32_t label(Part part, std::size_t index) const override {
        return listing_.of(part)[index].label;
    }
    [[nodiscard]] std::string file(Part part, std::size_t index) const override {
        return readable_text(path(part, index).string());
    }
    void read(Part part, std::size_t index, std::span<std::uint8_t> out) const override {
        cut_into(whole(part, index), image(), {}, out);
    }
    void read_cropped(Part part, std::size_t index, double place, std::span<std::uint8_t> out) const override {
        cut_into(whole(part, index), image(), place, out);
    }
    [[nodiscard]] bool may_crop() const override { return true; }
    ImageShape inspect(Part part, std::size_t index, std::span<std::uint8_t> out) const override {
        ImageShape original;
        cut_into(decode_for(path(part, index), image(), &original), image(), {}, out);
        return original;
    }
    [[nodiscard]] std::string content_hash() const override {
        ContentHash hash;
        hash.add(image().text());
        for (const auto& name : info().classes)
            hash.add(name);
        for (const auto part : all_parts) {
            hash.add(std::uint64_t{size(part)});
            for (std::size_t i = 0; i < size(part); ++i) {
                hash.add(static_cast<std::uint64_t>(label(part, i)));
                hash.add(pixel_hash(part, i));
            }
        }
        return hash.text();
    }
    [[nodiscard]] std::span<const BadFile> left_out() const override { return listing_.bad; }
    [[nodiscard]] std::vector<std::string> remarks() const override { return listing_.remarks; }

protected:
    [[nodiscard]] const std::filesystem::path& path(Part part, std::size_t index) const {
        return listing_.of(part)[index].path;
    }
    /// The image as it is kept: as large as image(), or longer in one direction.
    [[nodiscard]] virtual Image whole(Part part, std::size_t index) const {
        return decode_for(path(part, index), image());
    }
    [[nodiscard]] virtual std::uint64_t pixel_hash(Part part, std::size_t index) const {
        ContentHash hash;
        hash.add(whole(part, index).pixels);
        return hash.value();
    }

    FileListing listing_;
};

/// Image files that were decoded once.
class DecodedFiles final : public ImageFiles {
public:
    DecodedFiles(DatasetInfo info, FileListing listing, DecodedImages decoded)
        : ImageFiles(std::move(info), std::move(listing)), decoded_(std::move(decoded)) {
        for (const auto& part : decoded_.images)
            for (const auto& one : part)
                may_crop_ |= one.height > image().height || one.width > image().width;
    }

    void read(Part part, std::size_t index, std::span<std::uint8_t> out) const override {
        const auto& one = of(part, index);
        if (one.height == image().height && one.width == image().width)
            decoded_.store->read(one.place, out);
        else
            ImageFiles::read(part, index, out);
    }
    [[nodiscard]] bool may_crop() const override { return may_crop_; }

protected:
    [[nodiscard]] Image whole(Part part, std::size_t index) const override {
        const auto& one = of(part, index);
        Image kept{{channels, one.height, one.width}, {}};
        kept.pixels.resize(kept.shape.bytes());
        decoded_.store->read(one.place, kept.pixels);
        return kept;
    }
    [[nodiscard]] std::uint64_t pixel_hash(Part part, std::size_t index) const override { return of(part, index).hash; }

private:
    [[nodiscard]] const DecodedImage& of(Part part, std::size_t index) const {
        return decoded_.images[static_cast<std::size_t>(part)][index];
    }

    DecodedImages decoded_;
    bool may_crop_ = false;
};

/// The size of the first image that can be read, for sets that are taken as they are.
ImageShape first_size(const FileListing& listing) {
    std::string reason;
    for (const auto& one : listing.of(Part::train)) {
        try {
            auto shape = decode_image_file(one.path, channels).shape;
            if (std::max(shape.height, shape.width) > largest_side)
                throw ConfigError("The images are as large as " + std::to_string(shape.width) + " x " +
                                  std::to_string(shape.height) + " pixels ('" + one.path.string() +
                                  "'): more than the " + std::to_string(largest_side) +
                                  " that a network is trained with. Set image_size, for example image_size=224.");
            return shape;
        } catch (const DataError& error) {
            if (reason.empty())
                reason = error.what();
        }
    }
    throw DataError("No training image can be read. " + reason);
}

/// Takes what could not be decoded out of the listing.
void leave_out(FileListing& listing, DecodedImages& decoded) {
    for (const auto part : all_parts) {
        auto& files = listing.of(part);
        auto& images = decoded.images[static_cast<std::size_t>(part)];
        std::size_t good = 0;
        for (std::size_t i = 0; i < files.size(); ++i) {
            if (!images[i].fault.empty()) {
                listing.bad.push_back({readable_text(files[i].path.string()), std::move(images[i].fault)});
                continue;
            }
            if (good != i) {
                files[good] = std::move(files[i]);
                images[good] = std::move(images[i]);
            }
            ++good;
        }
        files.resize(good);
        images.resize(good);
    }
}

void check_share(const FileListing& listing, std::size_t total, double most) {
    const auto bad = total - listing.total();
    if (bad == 0 || (static_cast<double>(bad) <= most * static_cast<double>(total) && bad < total))
        return;
    const auto& first = *(listing.bad.end() - static_cast<std::ptrdiff_t>(bad));
    throw DataError(std::to_string(bad) + " of " + std::to_string(total) +
                    " image files cannot be used, more than the share that max_bad_share allows (" +
                    std::to_string(std::lround(most * 100)) + " %). The first: " + first.reason +
                    " A scan names all of them.");
}

/// Decodes all files into the store.
DecodedImages decode_files(const FileListing& listing, const ImageShape& shape, std::unique_ptr<ImageStore> store,
                           const WorkWatch& watch) {
    DecodedImages decoded{.images = {}, .store = std::move(store)};
    std::vector<std::pair<std::size_t, std::size_t>> order; // part and index
    for (std::size_t part = 0; part < decoded.images.size(); ++part) {
        decoded.images[part].resize(listing.images[part].size());
        for (std::size_t i = 0; i < listing.images[part].size(); ++i)
            order.emplace_back(part, i);
    }
    for_each_image(order.size(), watch, [&](std::size_t i) {
        const auto [part, index] = order[i];
        auto& one = decoded.images[part][index];
        Image image;
        try {
            image = decode_for(listing.images[part][index].path, shape);
        } catch (const DataError& error) {
            one.fault = error.what();
            return;
        }
        ContentHash hash;
        hash.add(image.pixels);
        one.hash = hash.value();
        one.place = decoded.store->add(image.pixels);
        one.height = static_cast<std::int32_t>(image.shape.height);
        one.width = static_cast<std::int32_t>(image.shape.width);
    });
    return decoded;
}

std::shared_ptr<const Dataset> decode_all(DatasetInfo info, FileListing listing, const OpenOptions& options) {
    const ImageCache cache(options.cache, listing, info.image, options.watch);
    auto decoded = cache.load(options.memory, options.watch);
    if (!decoded) {
        const auto start = std::chrono::steady_clock::now();
        decoded = decode_files(listing, info.image, cache.new_store(options.memory), options.watch);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (took.count() >= options.cache_after_seconds || !decoded->store->in_memory())
            cache.keep(*decoded);
    }
    const auto total = listing.total();
    leave_out(listing, *decoded);
    check_share(listing, total, options.max_bad_share);
    return std::make_shared<DecodedFiles>(std::move(info), std::move(listing), std::move(*decoded));
}

} // namespace

std::shared_ptr<const Dataset> open_image_files(DatasetInfo info, FileListing listing, const OpenOptions& options) {
    if (listing.of(Part::train).empty()) {
        std::string text = "The data set '" + info.spec + "' has no training images.";
        for (const auto& remark : listing.remarks) // what was passed over is what a person takes for images
            text += ' ' + remark;
        throw DataError(text);
    }
    info.classes = listing.classes;
    if (options.image)
        info.image = {channels, options.image->height, options.image->width};
    else if (options.image_size > 0)
        info.image = {channels, options.image_size, options.image_size};
    else
        info.image = first_size(listing);
    if (options.only)
        for (const auto part : all_parts)
            if (part != *options.only)
                listing.of(part).clear();
    if (options.decode)
        return decode_all(std::move(info), std::move(listing), options);
    return std::make_shared<ImageFiles>(std::move(info), std::move(listing));
}

} // namespace espalier
