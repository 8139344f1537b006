// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/file_listing.h"

namespace espalier {

/// Fields of a CSV text, row by row (RFC 4180: fields may stand in quotes, a quote within them is doubled, and hold
/// line ends). The separator is a comma, or a semicolon or tab if there are more of these in the first line. Empty
/// lines are left out; a byte order mark is skipped.
struct CsvRow {
    std::size_t line = 0; ///< in the file, from 1
    std::vector<std::string> fields;
};
[[nodiscard]] std::vector<CsvRow> parse_csv(std::string_view text);

/// Lists the images that a CSV file names, a line for each: file (beside the CSV, or anywhere by its whole path),
/// class, and, if there is a third column, part (train, val or test). A first line that names the columns decides which
/// is which: file, filename, image or path; label, class or category; part, split or set. Other columns are left alone.
///
/// Classes are the labels in natural order. Lines without a file or a label, or with an unknown part, are noted as bad.
/// Throws DataError if the file cannot be read, or no line can be understood.
[[nodiscard]] FileListing list_csv(const std::filesystem::path& file, const WorkWatch& watch = {});

} // namespace espalier
