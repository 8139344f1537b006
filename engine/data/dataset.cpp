// SPDX-License-Identifier: Apache-2.0
#include "data/dataset.h"

#include "base/error.h"
#include "base/user_folders.h"
#include "data/builtin.h"
#include "data/cifar.h"
#include "data/csv_listing.h"
#include "data/idx.h"
#include "data/image_files.h"
#include "data/synthetic.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

namespace espalier {
namespace {

constexpr std::string_view idx_option = ",classes="; // behind the folder

std::filesystem::path fashion_mnist_folder() {
    const auto named = environment("ESPALIER_FASHION_MNIST");
    const std::filesystem::path folder = named.empty() ? "/usr/share/datasets/fashion-mnist" : named;
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored))
        throw DataError("There is no Fashion-MNIST in '" + folder.string() +
                        "'. Install it (Debian, Ubuntu: apt install dataset-fashion-mnist) or name its folder in "
                        "ESPALIER_FASHION_MNIST.");
    return folder;
}

std::shared_ptr<const Dataset> open_fashion_mnist(const std::string& spec, std::vector<BadFile>* bad) {
    return open_idx_folder(fashion_mnist_folder(),
                           {.spec = spec, .kind = "fashion-mnist", .classes = fashion_mnist_classes(), .image = {}},
                           bad);
}

/// "DIR" or "DIR,classes=N".
std::shared_ptr<const Dataset> open_idx(const std::string& spec, std::string folder, std::vector<BadFile>* bad) {
    DatasetInfo info{.spec = spec, .kind = "idx", .classes = {}, .image = {}};
    if (const auto at = folder.rfind(idx_option); at != std::string::npos) {
        const char* end = folder.data() + folder.size();
        int count = 0;
        const auto [read_to, error] = std::from_chars(folder.data() + at + idx_option.size(), end, count);
        if (error != std::errc() || read_to != end || count < 1 || count > 256)
            throw ConfigError("The number of classes of '" + spec + "' must be 1 to 256.");
        for (int i = 0; i < count; ++i)
            info.classes.push_back(std::to_string(i));
        folder.erase(at);
    }
    return open_idx_folder(folder, std::move(info), bad);
}

struct SpecParts {
    std::string kind, rest; ///< before and behind the first colon
};

SpecParts parts_of(const std::string& spec) {
    const auto colon = spec.find(':');
    return {spec.substr(0, colon), colon == std::string::npos ? std::string() : spec.substr(colon + 1)};
}

[[noreturn]] void refuse(const std::string& spec) {
    std::error_code ignored;
    const std::string hint = std::filesystem::is_directory(spec, ignored)
                                 ? "It is a folder: if a folder for each class lies in it, write folder:" + spec + ". "
                                 : "";
    throw ConfigError("'" + spec + "' is no data set. " + hint + "These can be read:\n" + dataset_specs_text());
}

} // namespace

std::string_view name_of(Part part) {
    switch (part) {
    case Part::train:
        return "train";
    case Part::validation:
        return "validation";
    case Part::test:
        return "test";
    }
    return "?";
}

std::string ImageShape::text() const {
    return std::to_string(channels) + "x" + std::to_string(height) + "x" + std::to_string(width);
}

std::shared_ptr<const Dataset> open_dataset(const std::string& spec, const OpenOptions& options) {
    const auto [kind, rest] = parts_of(spec);
    if (spec == "builtin")
        return open_builtin();
    if (spec == "fashion-mnist")
        return open_fashion_mnist(spec, options.bad);
    if (kind == "folder" && !rest.empty())
        return open_image_files({.spec = spec, .kind = kind, .classes = {}, .image = {}},
                                list_image_folder(rest, options.watch), options);
    if (kind == "csv" && !rest.empty())
        return open_image_files({.spec = spec, .kind = kind, .classes = {}, .image = {}}, list_csv(rest, options.watch),
                                options);
    if ((kind == "cifar10" || kind == "cifar100") && !rest.empty())
        return open_cifar(rest, {.spec = spec, .kind = kind, .classes = {}, .image = {}});
    if (kind == "idx" && !rest.empty())
        return open_idx(spec, rest, options.bad);
    if (kind == "synthetic" && !rest.empty())
        return make_synthetic(parse_synthetic(rest));
    refuse(spec);
}

void check_dataset_is_there(const std::string& spec) {
    const auto [kind, rest] = parts_of(spec);
    if (spec == "builtin")
        return;
    if (spec == "fashion-mnist")
        (void)fashion_mnist_folder();
    else if (rest.empty())
        refuse(spec);
    else if (kind == "folder")
        check_image_folder(rest);
    else if (kind == "cifar10" || kind == "cifar100")
        (void)find_cifar(rest, kind);
    else if (kind == "idx")
        check_idx_folder(rest.substr(0, rest.rfind(idx_option)));
    else if (kind == "csv")
        check_csv(rest);
    else if (kind == "synthetic")
        (void)parse_synthetic(rest);
    else
        refuse(spec);
}

std::string with_absolute_path(const std::string& spec) {
    const auto [kind, rest] = parts_of(spec);
    constexpr std::array with_path = {"folder", "csv", "cifar10", "cifar100", "idx"};
    if (rest.empty() || std::ranges::find(with_path, kind) == with_path.end())
        return spec;
    return kind + ":" + std::filesystem::absolute(rest).string();
}

std::string dataset_specs_text() {
    return "  builtin                               6,000 images of clothing that are part of the program\n"
           "  fashion-mnist                         70,000 images, from the Debian package or ESPALIER_FASHION_MNIST\n"
           "  folder:DIR                            image files, a folder for each class: DIR/CLASS or "
           "DIR/train/CLASS\n"
           "  csv:FILE                              image files that a CSV file names: FILE,CLASS[,PART]\n"
           "  cifar10:DIR, cifar100:DIR             the binary files of CIFAR\n"
           "  idx:DIR[,classes=N]                   files of the MNIST format, packed with gzip or not\n"
           "  synthetic:CxHxW,classes,count[,seed]  made-up patterns\n";
}

} // namespace espalier
