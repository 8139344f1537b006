// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// Fields of a row of CSV.
struct CsvRow {
    std::size_t line = 0; ///< where it begins in the file, from 1
    std::vector<std::string> fields;
};

/// Rows of a CSV text as programs and people write it (RFC 4180: fields may stand in quotes, a quote within them is
/// doubled, and hold line ends). The separator is a comma, or a semicolon or tab if there are more of these in the
/// first line, or what a first line of "sep=;" names. Lines end with LF, CR LF or CR. Spaces around a field do not
/// count unless it stands in quotes. Empty lines are left out; a byte order mark is skipped.
///
/// Throws DataError if a quote is never closed, since it swallows all lines behind it, and if the text is UTF-16.
[[nodiscard]] std::vector<CsvRow> parse_csv(std::string_view text);

} // namespace espalier
