// SPDX-License-Identifier: Apache-2.0
#include "data/idx.h"

#include "base/counted.h"
#include "base/error.h"
#include "data/file_content.h"
#include "data/readable_text.h"

#include <algorithm>
#include <array>

namespace espalier {
namespace {

constexpr std::int64_t max_side = 1 << 14;
constexpr std::int64_t max_bytes = std::int64_t{1} << 34; // 16 GiB: more would not fit into the memory of most machines
constexpr std::size_t first_block = 1 << 20;
constexpr std::size_t most_classes = 256; // a label is a byte

std::string because(const ByteSource& source) { return source.fault().empty() ? "" : ": " + source.fault(); }

std::vector<std::int64_t> read_header(ByteSource& source, const std::string& name, std::size_t rank) {
    std::vector<std::uint8_t> bytes(4);
    bytes.resize(source.read(bytes));
    if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0) {
        const auto reason = source.fault().empty() ? likely_content(bytes) : source.fault();
        throw DataError("'" + name + "' is not an IDX file (two zero bytes were expected first): " + reason + ".");
    }
    if (bytes[2] != 8)
        throw DataError("'" + name + "' holds elements of IDX type " + std::to_string(bytes[2]) +
                        ", but only type 8 (unsigned bytes) can be read.");
    if (bytes[3] != rank)
        throw DataError("'" + name + "' holds an array of " + counted(bytes[3], "dimension") + ", but " +
                        std::to_string(rank) +
                        (rank == 1 ? " was expected (one label an image)." : " were expected (count, height, width)."));
    bytes.resize(4 * rank);
    const auto got = source.read(bytes);
    if (got < bytes.size())
        throw DataError("'" + name + "' ends within its header: " + std::to_string(4 + bytes.size()) +
                        " bytes were expected, " + std::to_string(4 + got) + " came" + because(source) +
                        ". Fetch the file again.");
    std::vector<std::int64_t> extents;
    for (std::size_t i = 0; i < rank; ++i)
        extents.push_back((std::int64_t{bytes[4 * i]} << 24) | (bytes[4 * i + 1] << 16) | (bytes[4 * i + 2] << 8) |
                          bytes[4 * i + 3]);
    return extents;
}

/// Product of the extents, or DataError. Sides are checked one by one first, so that the product cannot overflow.
std::size_t checked_bytes(const std::vector<std::int64_t>& extents, const std::string& name) {
    std::int64_t bytes = extents[0];
    for (std::size_t i = 1; i < extents.size(); ++i) {
        if (extents[i] < 1 || extents[i] > max_side)
            throw DataError("The header of '" + name + "' says that an image has a side of " +
                            std::to_string(extents[i]) + " pixels; 1 to " + std::to_string(max_side) +
                            " are possible. The file is damaged.");
        bytes *= extents[i];
    }
    if (extents[0] < 1)
        throw DataError("The header of '" + name + "' says that it holds no element.");
    if (bytes > max_bytes)
        throw DataError("The header of '" + name + "' announces " + std::to_string(bytes) + " bytes; at most " +
                        std::to_string(max_bytes) + " can be read. The file is damaged or too large.");
    return static_cast<std::size_t>(bytes);
}

} // namespace

IdxArray read_idx(ByteSource& source, const std::string& name, std::size_t rank) {
    IdxArray array;
    array.extents = read_header(source, name, rank);
    const auto expected = checked_bytes(array.extents, name);

    auto& values = array.values;
    std::size_t got = 0;
    while (got < expected) {
        const auto room = std::min(expected, std::max(first_block, 2 * got));
        values.resize(room);
        got += source.read(std::span(values).subspan(got));
        if (got < room)
            throw DataError("'" + name + "' is incomplete: after its header " + std::to_string(expected) +
                            " bytes were expected, " + std::to_string(got) + " came" + because(source) +
                            ". Fetch the file again.");
    }
    std::array<std::uint8_t, 1> more{};
    if (source.read(more) != 0)
        throw DataError("'" + name + "' is longer than its header says: " + std::to_string(expected) +
                        " bytes were expected, more came. Header and content do not belong together.");
    if (!source.fault().empty()) // all bytes came, but the checksum behind them is wrong or missing
        throw DataError("'" + name + "' is damaged: " + std::to_string(expected) +
                        " bytes were expected and came, but " + source.fault() + ". Fetch the file again.");
    return array;
}

MemoryPart read_idx_pair(IdxPair pair, std::size_t classes, std::vector<BadFile>* bad) {
    auto labels = read_idx(*pair.labels, pair.labels_name, 1);
    auto images = read_idx(*pair.images, pair.images_name, 3);
    if (images.extents[0] != labels.extents[0])
        throw DataError("'" + pair.images_name + "' holds " + counted(images.extents[0], "image") + ", but '" +
                        pair.labels_name + "' " + counted(labels.extents[0], "label") +
                        ". They do not belong together.");

    MemoryPart part;
    part.image = {1, images.extents[1], images.extents[2]};
    part.source = pair.images_name;
    const auto wrong = [classes](std::uint8_t label) { return label >= classes; };
    if (std::ranges::none_of(labels.values, wrong)) {
        part.pixels = std::move(images.values);
        part.labels = std::move(labels.values);
        return part;
    }
    for (std::size_t i = 0; i < labels.values.size(); ++i) {
        if (wrong(labels.values[i])) {
            const auto reason = "label " + std::to_string(labels.values[i]) + " at index " + std::to_string(i) +
                                ", but there are " + counted(classes, "class", "classes") + ", 0 to " +
                                std::to_string(classes - 1);
            if (!bad)
                throw DataError(
                    "'" + pair.labels_name + "' has " + reason +
                    ". If the set has more classes, name them in a file classes.txt beside it, one a line, or write "
                    "idx:DIR,classes=N.");
            bad->push_back({pair.labels_name, reason});
            continue;
        }
        const auto first = images.values.begin() + static_cast<std::ptrdiff_t>(i * part.image.bytes());
        part.pixels.insert(part.pixels.end(), first, first + static_cast<std::ptrdiff_t>(part.image.bytes()));
        part.labels.push_back(labels.values[i]);
        part.positions.push_back(static_cast<std::uint32_t>(i));
    }
    return part;
}

namespace {

std::filesystem::path find_idx(const std::filesystem::path& folder, const std::string& stem, const std::string& rank) {
    for (const char* joint : {"-idx", ".idx"})
        for (const char* end : {"", ".gz"}) {
            auto path = folder / (stem + joint + rank + "-ubyte" + end);
            std::error_code ignored;
            if (std::filesystem::exists(path, ignored))
                return path;
        }
    return {};
}

[[noreturn]] void refuse_without_training(const std::filesystem::path& folder) {
    throw DataError("'" + folder.string() +
                    "' holds no training images: train-images-idx3-ubyte and train-labels-idx1-ubyte, "
                    "with or without .gz, were expected.");
}

/// The part that begins with `prefix`, or one without images if none of its files is there.
MemoryPart open_part(const std::filesystem::path& folder, const std::string& prefix, std::size_t classes,
                     std::vector<BadFile>* bad) {
    const auto images = find_idx(folder, prefix + "-images", "3");
    const auto labels = find_idx(folder, prefix + "-labels", "1");
    if (images.empty() && labels.empty())
        return {};
    if (images.empty() || labels.empty())
        throw DataError("'" + (images.empty() ? labels : images).string() + "' has no counterpart: '" + prefix +
                        (images.empty() ? "-images-idx3-ubyte" : "-labels-idx1-ubyte") +
                        "', with or without .gz, was expected beside it.");
    return read_idx_pair({unpacked(open_file(images)), images.string(), unpacked(open_file(labels)), labels.string()},
                         classes, bad);
}

} // namespace

void check_idx_folder(const std::filesystem::path& folder) {
    check_folder(folder);
    if (find_idx(folder, "train-images", "3").empty() || find_idx(folder, "train-labels", "1").empty())
        refuse_without_training(folder);
}

std::shared_ptr<const Dataset> open_idx_folder(const std::filesystem::path& folder, DatasetInfo info,
                                               std::vector<BadFile>* bad) {
    check_folder(folder);
    if (info.classes.empty())
        info.classes = read_class_names(folder / "classes.txt");
    info.classes.resize(std::min(info.classes.size(), most_classes));
    if (info.classes.empty())
        for (int i = 0; i < 10; ++i)
            info.classes.push_back(std::to_string(i));

    const auto open = [&](const std::string& prefix) -> MemoryPart {
        try {
            return open_part(folder, prefix, info.classes.size(), bad);
        } catch (const DataError& error) {
            if (!bad)
                throw;
            bad->push_back({(folder / (prefix + "-*")).string(), error.what()});
            return {};
        }
    };
    auto train = open("train");
    auto test = open("t10k");
    if (train.labels.empty()) {
        if (bad && !bad->empty())
            return nullptr;
        refuse_without_training(folder);
    }
    info.image = train.image;
    return std::make_shared<MemoryDataset>(std::move(info), std::move(train), MemoryPart{}, std::move(test));
}

} // namespace espalier
