// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/dataset.h"
#include "data/natural_order.h"
#include "data/work_watch.h"

#include <array>
#include <filesystem>
#include <map>
#include <optional>

namespace espalier {

/// An image file and the class that it belongs to.
struct ListedImage {
    std::filesystem::path path;
    std::int32_t label = 0;
};

/// The image files of a data set, found but not read.
struct FileListing {
    std::vector<std::string> classes;               ///< in natural order
    std::array<std::vector<ListedImage>, 3> images; ///< of each part, class by class, in natural order of their paths
    std::vector<BadFile> bad;                       ///< folders that cannot be read, lines that cannot be understood
    std::vector<std::string> remarks;               ///< what was passed over, with counts

    [[nodiscard]] std::vector<ListedImage>& of(Part part) { return images[static_cast<std::size_t>(part)]; }
    [[nodiscard]] const std::vector<ListedImage>& of(Part part) const { return images[static_cast<std::size_t>(part)]; }
    [[nodiscard]] std::size_t total() const { return images[0].size() + images[1].size() + images[2].size(); }
};

/// Lists DIR/CLASS/... or, where DIR/train is a folder, DIR/train/CLASS/..., DIR/val/CLASS/... and DIR/test/CLASS/...
/// ("training", "valid", "validation" and "testing" are understood, too). A class is a folder; its images may lie in
/// folders within it. Classes of the parts are matched by name.
///
/// Passed over and counted: hidden files and folders ("._a.jpg", ".DS_Store"), what operating systems leave behind
/// (Thumbs.db, desktop.ini, __MACOSX), files whose names do not end like an image's, images beside the folders of
/// classes, and folders that were visited already (links to themselves).
///
/// Throws DataError if there is no such folder or it holds no folder of a class.
[[nodiscard]] FileListing list_image_folder(const std::filesystem::path& folder, const WorkWatch& watch = {});

/// Throws DataError as list_image_folder, and if the classes hold no image for training, as far as names tell it in a
/// moment: the search ends at the first image.
void check_image_folder(const std::filesystem::path& folder);

/// Labels of classes by name.
using ClassLabels = std::map<std::string, std::int32_t, NaturalLess>;
/// Gives the classes their labels, from 0 on in natural order, and returns their names.
[[nodiscard]] std::vector<std::string> number_classes(ClassLabels& labels);

/// The part that a folder or a field of this name means, upper or lower case; nothing if it is none.
[[nodiscard]] std::optional<Part> part_named(const std::string& name);

/// With A to Z made small, whatever the locale says of other letters.
[[nodiscard]] std::string lower_ascii(std::string text);

/// Whether the name ends like that of an image of pixels. Not all of them can be read everywhere (HEIC, say): one that
/// cannot is a bad file with a reason, and not passed over.
[[nodiscard]] bool has_image_name(const std::filesystem::path& path);

} // namespace espalier
