// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/file_listing.h"

namespace espalier {

/// Lists the images that a CSV file (csv_text.h) names, a line for each: file (beside the CSV, or anywhere by its whole
/// path), class, and, if there is a third column, part (train, val or test). A first line that names the columns
/// decides which is which: file, filename, image or path; label, class or category; part, split or set. Other columns
/// are left alone. A first line with other names (it names no image file, and the next line does) is passed over with a
/// remark: the file is then where the next line has it, and the class in the first column beside it. Folders may be
/// divided by \ as on Windows.
///
/// Classes are the labels in natural order. Lines without a file or a label, or with an unknown part, are noted as bad.
/// Throws DataError if the file cannot be read, is no text, or no line can be understood.
[[nodiscard]] FileListing list_csv(const std::filesystem::path& file, const WorkWatch& watch = {});

/// What can be told without a look into an image: throws as list_csv, and DataError if no line is for training, or none
/// of the first thousand images is there.
void check_csv(const std::filesystem::path& file);

} // namespace espalier
