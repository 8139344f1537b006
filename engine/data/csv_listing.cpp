// SPDX-License-Identifier: Apache-2.0
#include "data/csv_listing.h"

#include "base/error.h"
#include "data/byte_source.h"
#include "data/csv_text.h"
#include "data/readable_text.h"

#include <algorithm>
#include <optional>
#include <set>

namespace espalier {
namespace {

constexpr std::size_t largest_file = std::size_t{256} << 20;

/// Columns of a CSV file.
struct Columns {
    std::size_t file = 0, label = 1;
    std::optional<std::size_t> part;
};

std::optional<std::size_t> column_named(const CsvRow& row, const std::set<std::string>& names) {
    for (std::size_t i = 0; i < row.fields.size(); ++i)
        if (names.contains(lower_ascii(row.fields[i])))
            return i;
    return std::nullopt;
}

/// What the first line says of the columns.
struct Head {
    Columns columns;
    bool is_line = false; ///< of an image, like all others
    std::string remark;
};

Head head_of(const std::vector<CsvRow>& rows) {
    const auto& row = rows.front();
    const auto file = column_named(row, {"file", "filename", "file_name", "image", "image_path", "path", "filepath"});
    const auto label = column_named(row, {"label", "class", "class_name", "category", "target"});
    const auto part = column_named(row, {"part", "split", "set", "subset"});
    if (file && label)
        return {{*file, *label, part}, false, {}};
    if (rows.size() > 1) {
        const auto names_image = [](const std::string& field) { return has_image_name(field); };
        const auto& next = rows[1].fields;
        const auto at = static_cast<std::size_t>(std::ranges::find_if(next, names_image) - next.begin());
        if (at < next.size() && std::ranges::none_of(row.fields, names_image)) {
            const auto class_at = label.value_or(at == 0 ? 1 : 0);
            return {{at, class_at, part},
                    false,
                    "The first line of the table names no columns 'file' and 'label': column " +
                        std::to_string(at + 1) + " was taken for the file, column " + std::to_string(class_at + 1) +
                        " for the class."};
        }
    }
    return {{0, 1, row.fields.size() > 2 ? std::optional<std::size_t>(2) : std::nullopt}, true, {}};
}

/// Why a line cannot be used; empty if it can.
std::string fault_of(const CsvRow& row, const Columns& columns) {
    const auto needed = std::max({columns.file, columns.label, columns.part.value_or(0)}) + 1;
    if (row.fields.size() < needed)
        return "it has " + std::to_string(row.fields.size()) + " fields, but " + std::to_string(needed) +
               " were expected";
    if (row.fields[columns.file].empty())
        return "it names no file";
    if (row.fields[columns.label].empty())
        return "it has no label";
    if (columns.part && !part_named(row.fields[*columns.part]))
        return "its part is '" + row.fields[*columns.part] + "', but train, val or test was expected";
    return {};
}

std::vector<CsvRow> rows_of(const std::filesystem::path& file) {
    const auto bytes = file_bytes(file, largest_file);
    try {
        return parse_csv({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    } catch (const DataError& error) {
        throw DataError("'" + file.string() + "' cannot be used: " + error.what());
    }
}

/// Where the file lies that a line names.
std::filesystem::path path_of(const std::filesystem::path& folder, const std::string& name) {
    auto path = folder / name;
    std::error_code ignored;
    if (name.find('\\') == std::string::npos || std::filesystem::exists(path, ignored))
        return path;
    auto with_slashes = name;
    std::ranges::replace(with_slashes, '\\', '/');
    return folder / with_slashes;
}

} // namespace

FileListing list_csv(const std::filesystem::path& file, const WorkWatch& watch) {
    const auto rows = rows_of(file);
    if (rows.empty())
        throw DataError("'" + file.string() + "' is empty: lines of file and class were expected.");
    const auto head = head_of(rows);
    const auto& columns = head.columns;
    FileListing listing;
    if (!head.remark.empty())
        listing.remarks.push_back(head.remark);
    ClassLabels labels;
    std::vector<const CsvRow*> good;
    for (auto row = rows.begin() + (head.is_line ? 0 : 1); row != rows.end(); ++row) {
        if (row->line % 1024 == 0)
            watch.check();
        if (auto fault = fault_of(*row, columns); !fault.empty()) {
            const auto place = file.string() + ", line " + std::to_string(row->line);
            listing.bad.push_back({place, place + " cannot be used: " + std::move(fault) + "."});
            continue;
        }
        labels.emplace(readable_text(row->fields[columns.label]), 0);
        good.push_back(&*row);
    }
    if (good.empty())
        throw DataError("No line of '" + file.string() + "' can be used. " +
                        (listing.bad.empty() ? "It names columns, but no image." : listing.bad.front().reason) +
                        " A line is FILE,CLASS or FILE,CLASS,PART.");
    listing.classes = number_classes(labels);
    for (const auto* row : good) {
        const auto part = columns.part ? *part_named(row->fields[*columns.part]) : Part::train;
        listing.of(part).push_back({path_of(file.parent_path(), row->fields[columns.file]),
                                    labels.at(readable_text(row->fields[columns.label]))});
    }
    return listing;
}

} // namespace espalier
