// SPDX-License-Identifier: Apache-2.0
#include "data/csv_listing.h"

#include "base/counted.h"
#include "base/error.h"
#include "data/byte_source.h"
#include "data/csv_text.h"
#include "data/file_content.h"
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
        return "it has " + counted(row.fields.size(), "field") + ", but " + std::to_string(needed) + " were expected";
    if (row.fields[columns.file].empty())
        return "it names no file";
    if (row.fields[columns.label].empty())
        return "it has no label";
    if (columns.part && !part_named(row.fields[*columns.part]))
        return "its part is '" + row.fields[*columns.part] + "', but train, val or test was expected";
    return {};
}

constexpr const char* line_form = " A line is FILE,CLASS or FILE,CLASS,PART.";

/// Whether the first bytes may begin a table. A web page may have commas, too; UTF-16 is for parse_csv to refuse.
bool may_be_table(std::string_view first) {
    if (first.starts_with("\xff\xfe") || first.starts_with("\xfe\xff"))
        return true;
    const auto begin = first.substr(first.starts_with("\xef\xbb\xbf") ? 3 : 0);
    const auto is_in_no_text = [](char c) {
        return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f';
    };
    const auto mark = begin.find_first_not_of(" \t\r\n");
    return std::ranges::none_of(first, is_in_no_text) && !begin.starts_with("%PDF") &&
           (mark == std::string_view::npos || begin[mark] != '<');
}

std::vector<CsvRow> rows_of(const std::filesystem::path& file) {
    constexpr std::size_t looked_at = 1024;
    const auto bytes = file_bytes(file, largest_file);
    if (const auto first = std::span(bytes).first(std::min(bytes.size(), looked_at));
        !may_be_table({reinterpret_cast<const char*>(first.data()), first.size()}))
        throw DataError("'" + file.string() + "' is no table: " + likely_content(first) +
                        ". Text in UTF-8 was expected." + line_form);
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
        throw DataError("'" + file.string() + "' is empty: lines of file and class were expected." + line_form);
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
                        line_form);
    listing.classes = number_classes(labels);
    for (const auto* row : good) {
        const auto part = columns.part ? *part_named(row->fields[*columns.part]) : Part::train;
        listing.of(part).push_back({path_of(file.parent_path(), row->fields[columns.file]),
                                    labels.at(readable_text(row->fields[columns.label]))});
    }
    return listing;
}

void check_csv(const std::filesystem::path& file) {
    const auto listing = list_csv(file);
    if (listing.of(Part::train).empty())
        throw DataError("'" + file.string() +
                        "' names no image for training: every line that can be used is for validation or test.");
    constexpr std::size_t most_tried = 1000;
    std::vector<std::filesystem::path> missing;
    for (const auto& images : listing.images)
        for (const auto& image : images) {
            std::error_code ignored;
            if (std::filesystem::exists(image.path, ignored) || missing.size() == most_tried)
                return;
            missing.push_back(image.path);
        }
    throw DataError("No image that '" + file.string() + "' names is there; the first would be '" +
                    missing.front().string() +
                    "'. Paths in a table count from the folder in which it lies. Check them, and the order of the "
                    "columns." +
                    line_form);
}

} // namespace espalier
