// SPDX-License-Identifier: Apache-2.0
#include "data/cifar.h"

#include "base/counted.h"
#include "base/error.h"
#include "data/readable_text.h"

namespace espalier {

namespace fs = std::filesystem;

namespace {

constexpr ImageShape cifar_image{3, 32, 32};

/// What tells the two sets apart.
struct Variant {
    std::string archive_folder;
    std::vector<std::string> train;
    std::string test;
    std::string names;
    std::size_t label_bytes;
    std::size_t classes;
};

Variant variant_of(const std::string& kind) {
    if (kind == "cifar100")
        return {"cifar-100-binary", {"train.bin"}, "test.bin", "fine_label_names.txt", 2, 100};
    return {"cifar-10-batches-bin",
            {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
            "test_batch.bin",
            "batches.meta.txt",
            1,
            10};
}

std::vector<std::string> class_names(const fs::path& file, std::size_t classes) {
    auto names = read_class_names(file);
    if (names.size() == classes)
        return names;
    names.clear();
    for (std::size_t i = 0; i < classes; ++i)
        names.push_back(std::to_string(i));
    return names;
}

void append(MemoryPart& part, MemoryPart more) {
    part.pixels.insert(part.pixels.end(), more.pixels.begin(), more.pixels.end());
    part.labels.insert(part.labels.end(), more.labels.begin(), more.labels.end());
}

} // namespace

MemoryPart read_cifar_file(ByteSource& source, const std::string& name, std::size_t label_bytes, std::size_t classes) {
    const auto record_bytes = label_bytes + cifar_image.bytes();
    MemoryPart part{.image = cifar_image, .pixels = {}, .labels = {}, .positions = {}, .source = name};
    std::vector<std::uint8_t> record(record_bytes);
    for (;;) {
        const auto count = source.read(record);
        if (const auto fault = source.fault(); !fault.empty())
            throw DataError("'" + name + "' is damaged: " + fault + ".");
        if (count == 0)
            break;
        const auto index = part.labels.size();
        if (count < record_bytes)
            throw DataError("'" + name + "' ends within image " + std::to_string(index) + ": " + std::to_string(count) +
                            " of its " + std::to_string(record_bytes) +
                            " bytes are there. It is cut off, or no file of the binary CIFAR format.");
        const auto label = record[label_bytes - 1];
        if (label >= classes)
            throw DataError("'" + name + "' has label " + std::to_string(label) + " at index " + std::to_string(index) +
                            ", but there are " + counted(classes, "class", "classes") + ", 0 to " +
                            std::to_string(classes - 1) + ". Is it a file of the binary CIFAR format?");
        part.labels.push_back(label);
        part.pixels.insert(part.pixels.end(), record.begin() + static_cast<std::ptrdiff_t>(label_bytes), record.end());
    }
    if (part.labels.empty())
        throw DataError("'" + name + "' is empty (0 bytes).");
    return part;
}

fs::path find_cifar(fs::path folder, const std::string& kind) {
    const auto variant = variant_of(kind);
    std::error_code ignored;
    check_folder(folder);
    if (!fs::exists(folder / variant.train[0], ignored) && fs::is_directory(folder / variant.archive_folder, ignored))
        folder /= variant.archive_folder;
    if (!fs::exists(folder / variant.train[0], ignored))
        throw DataError("'" + folder.string() + "' holds no '" + variant.train[0] +
                        "'. The files of the set's binary version were expected (" + variant.archive_folder + ").");
    return folder;
}

std::shared_ptr<const Dataset> open_cifar(const fs::path& given, DatasetInfo info) {
    const auto variant = variant_of(info.kind);
    const auto folder = find_cifar(given, info.kind);
    std::error_code ignored;
    const auto read = [&](const std::string& file) {
        const auto source = unpacked(open_file(folder / file));
        return read_cifar_file(*source, (folder / file).string(), variant.label_bytes, variant.classes);
    };
    auto train = read(variant.train[0]);
    std::vector<std::string> remarks;
    for (std::size_t i = 1; i < variant.train.size(); ++i) {
        if (fs::exists(folder / variant.train[i], ignored))
            append(train, read(variant.train[i]));
        else
            remarks.push_back("There is no '" + (folder / variant.train[i]).string() +
                              "': the training part is smaller than the whole set's.");
    }
    if (variant.train.size() > 1)
        train.source = (folder / "data_batch_*.bin").string();
    MemoryPart test;
    if (fs::exists(folder / variant.test, ignored))
        test = read(variant.test);
    info.classes = class_names(folder / variant.names, variant.classes);
    info.image = cifar_image;
    return std::make_shared<MemoryDataset>(std::move(info), std::move(train), MemoryPart{}, std::move(test),
                                           std::move(remarks));
}

} // namespace espalier
