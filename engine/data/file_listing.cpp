// SPDX-License-Identifier: Apache-2.0
#include "data/file_listing.h"

#include "base/counted.h"
#include "base/error.h"
#include "data/byte_source.h"
#include "data/readable_text.h"

#include <algorithm>
#include <set>

namespace espalier {

namespace fs = std::filesystem;

namespace {

std::string name_of_path(const fs::path& path) { return path.filename().string(); }

/// Files and folders that systems and archivers leave behind.
bool is_left_behind(const std::string& name) {
    static const std::set<std::string> names{"thumbs.db", "desktop.ini", "ehthumbs.db",
                                             "__macosx",  "@eadir",      "$recycle.bin"};
    return name.starts_with('.') || names.contains(lower_ascii(name));
}

BadFile unreadable(const fs::path& folder, const std::error_code& error) {
    auto name = readable_text(folder.string());
    return {name, "The folder '" + name + "' cannot be read: " + error.message() + "."};
}

/// Walks folders, each only once, and counts what it passes over.
class Walk {
public:
    Walk(FileListing& listing, const WorkWatch& watch) : listing_(listing), watch_(watch) {}

    struct Entries {
        std::vector<fs::path> folders, images; ///< in natural order
    };
    /// What lies in a folder; nothing if it was visited before or cannot be read (which is then noted as bad).
    Entries entries(const fs::path& folder) {
        Entries found;
        std::error_code error;
        const auto real = fs::canonical(folder, error);
        if (!error && !visited_.insert(real).second) {
            ++visited_twice_;
            return found;
        }
        auto entry = fs::directory_iterator(folder, error);
        for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
            if (++seen_ % 256 == 0)
                watch_.check();
            sort_in(*entry, found);
        }
        if (error)
            listing_.bad.push_back(unreadable(folder, error));
        const auto by_name = [](const fs::path& a, const fs::path& b) {
            return natural_less(a.filename().string(), b.filename().string());
        };
        std::ranges::sort(found.folders, by_name);
        std::ranges::sort(found.images, by_name);
        return found;
    }

    /// All images in a folder and the folders within it.
    void collect(const fs::path& folder, std::int32_t label, std::vector<ListedImage>& images) {
        const auto found = entries(folder);
        for (const auto& image : found.images)
            images.push_back({image, label});
        for (const auto& inner : found.folders)
            collect(inner, label, images);
    }

    void pass_over_unclassed(std::size_t count) { unclassed_ += count; }

    void tell() {
        const auto remark = [&](std::size_t count, const std::string& of_one, const std::string& of_many) {
            if (count > 0)
                listing_.remarks.push_back(counted(count, of_one, of_many));
        };
        remark(left_behind_, "hidden file or leftover of the system (such as ._a.jpg, Thumbs.db) was passed over.",
               "hidden files or folders and leftovers of the system (such as ._a.jpg, Thumbs.db) were passed over.");
        remark(unclassed_, "image lies beside the folders of the classes and was passed over.",
               "images lie beside the folders of the classes and were passed over.");
        remark(visited_twice_, "folder was reached a second time, through a link, and passed over.",
               "folders were reached a second time, through a link, and passed over.");
        std::size_t others = 0;
        std::string ends;
        for (const auto& [end, count] : other_files_) {
            others += count;
            if (ends.size() < 60)
                ends += (ends.empty() ? "" : ", ") + (end.empty() ? std::string("without an extension") : end);
        }
        remark(others, "file is no image by its name (" + ends + ") and was passed over.",
               "files are no images by their names (" + ends + ") and were passed over.");
    }

private:
    void sort_in(const fs::directory_entry& entry, Entries& found) {
        std::error_code error;
        if (is_left_behind(name_of_path(entry.path())))
            ++left_behind_;
        else if (entry.is_directory(error))
            found.folders.push_back(entry.path());
        else if (has_image_name(entry.path()))
            found.images.push_back(entry.path());
        else
            ++other_files_[lower_ascii(entry.path().extension().string())];
    }

    FileListing& listing_;
    const WorkWatch& watch_;
    std::set<fs::path> visited_;
    std::size_t seen_ = 0, visited_twice_ = 0, left_behind_ = 0, unclassed_ = 0;
    std::map<std::string, std::size_t> other_files_; ///< by extension
};

/// A folder of each class, for each part.
using ClassFolders = std::array<std::vector<fs::path>, 3>;

/// Whether an image lies in one of these folders or within them. After so many entries without one they get the benefit
/// of the doubt: who opens the data set reads on.
bool may_hold_image(std::vector<fs::path> folders) {
    constexpr std::size_t most_entries = 20000;
    std::size_t seen = 0;
    std::error_code error;
    while (!folders.empty()) {
        const fs::path folder = std::move(folders.back());
        folders.pop_back();
        for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
             entry.increment(error)) {
            std::error_code unknown;
            if (++seen > most_entries) // also the end of links that lead back
                return true;
            if (is_left_behind(name_of_path(entry->path())))
                continue;
            if (entry->is_directory(unknown))
                folders.push_back(entry->path());
            else if (has_image_name(entry->path()))
                return true;
        }
    }
    return false;
}

ClassFolders find_classes(const fs::path& folder, Walk& walk, FileListing& listing) {
    const auto top = walk.entries(folder);
    const bool parted = std::ranges::any_of(
        top.folders, [](const auto& path) { return part_named(name_of_path(path)) == Part::train; });
    walk.pass_over_unclassed(top.images.size());
    ClassFolders classes;
    if (!parted) {
        classes[0] = top.folders;
        if (classes[0].empty())
            throw DataError("'" + folder.string() + "' holds no folders of classes, but " +
                            counted(top.images.size(), "image") +
                            ". A folder for each class was expected: FOLDER/CLASS/IMAGE, or "
                            "FOLDER/train/CLASS/IMAGE with val and test beside train.");
        return classes;
    }
    for (const auto& inner : top.folders) {
        const auto part = part_named(name_of_path(inner));
        if (!part) {
            listing.remarks.push_back("The folder '" + name_of_path(inner) +
                                      "' lies beside 'train' and was passed over.");
            continue;
        }
        auto found = walk.entries(inner);
        walk.pass_over_unclassed(found.images.size());
        auto& of_part = classes[static_cast<std::size_t>(*part)];
        std::ranges::move(found.folders, std::back_inserter(of_part));
    }
    if (classes[0].empty())
        throw DataError("'" + (folder / "train").string() +
                        "' holds no folders of classes. A folder for each class was expected: train/CLASS/IMAGE.");
    return classes;
}

} // namespace

std::vector<std::string> number_classes(ClassLabels& labels) {
    std::vector<std::string> names;
    for (auto& [name, label] : labels) {
        label = static_cast<std::int32_t>(names.size());
        names.push_back(name);
    }
    return names;
}

std::optional<Part> part_named(const std::string& name) {
    static const std::map<std::string, Part> names{{"train", Part::train},           {"training", Part::train},
                                                   {"val", Part::validation},        {"valid", Part::validation},
                                                   {"validation", Part::validation}, {"test", Part::test},
                                                   {"testing", Part::test}};
    const auto found = names.find(lower_ascii(name));
    return found == names.end() ? std::nullopt : std::optional(found->second);
}

std::string lower_ascii(std::string text) {
    for (char& c : text) // not tolower: a Turkish locale changes i
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
}

bool has_image_name(const fs::path& path) {
    static const std::set<std::string> ends{".jpg", ".jpeg", ".jpe",  ".jfif", ".png",  ".bmp",
                                            ".gif", ".webp", ".tif",  ".tiff", ".ppm",  ".pgm",
                                            ".pbm", ".pnm",  ".heic", ".heif", ".avif", ".jxl"};
    return ends.contains(lower_ascii(path.extension().string()));
}

FileListing list_image_folder(const fs::path& folder, const WorkWatch& watch) {
    check_folder(folder);
    FileListing listing;
    Walk walk(listing, watch);
    const auto folders = find_classes(folder, walk, listing);

    ClassLabels labels;
    for (const auto& part : folders)
        for (const auto& path : part)
            labels.emplace(readable_text(name_of_path(path)), 0);
    listing.classes = number_classes(labels);
    for (std::size_t part = 0; part < folders.size(); ++part)
        for (const auto& path : folders[part])
            walk.collect(path, labels.at(readable_text(name_of_path(path))), listing.images[part]);
    walk.tell();
    return listing;
}

void check_image_folder(const fs::path& folder) {
    check_folder(folder);
    FileListing listing;
    const WorkWatch unwatched;
    Walk walk(listing, unwatched);
    if (!may_hold_image(find_classes(folder, walk, listing)[0]))
        throw DataError("The folders of classes in '" + folder.string() +
                        "' hold no image for training. Images were expected in them: FOLDER/CLASS/IMAGE, or "
                        "FOLDER/train/CLASS/IMAGE.");
}

} // namespace espalier
