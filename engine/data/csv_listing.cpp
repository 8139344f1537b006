// SPDX-License-Identifier: Apache-2.0
#include "data/csv_listing.h"

#include "base/error.h"
#include "data/byte_source.h"

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

/// The columns that the first line names; nothing if it is a line like the others.
std::optional<Columns> named_columns(const CsvRow& row) {
    const auto file = column_named(row, {"file", "filename", "file_name", "image", "image_path", "path", "filepath"});
    const auto label = column_named(row, {"label", "class", "class_name", "category", "target"});
    if (!file || !label)
        return std::nullopt;
    return Columns{*file, *label, column_named(row, {"part", "split", "set", "subset"})};
}

char separator_of(std::string_view text) {
    const auto line = text.substr(0, text.find('\n'));
    char best = ',';
    for (char candidate : {';', '\t'})
        if (std::ranges::count(line, candidate) > std::ranges::count(line, best))
            best = candidate;
    return best;
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

} // namespace

std::vector<CsvRow> parse_csv(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf"))
        text.remove_prefix(3);
    const char separator = separator_of(text);
    std::vector<CsvRow> rows;
    CsvRow row{1, {}};
    std::string field;
    std::size_t line = 1;
    bool quoted = false;
    const auto end_row = [&] {
        row.fields.push_back(std::move(field));
        field.clear();
        if (row.fields.size() > 1 || !row.fields[0].empty())
            rows.push_back(std::move(row));
        row = {line, {}};
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        line += c == '\n';
        if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
            field += c;
            ++i;
        } else if (c == '"' && (quoted || field.empty())) {
            quoted = !quoted;
        } else if (!quoted && c == separator) {
            row.fields.push_back(std::move(field));
            field.clear();
        } else if (!quoted && c == '\n') {
            if (field.ends_with('\r'))
                field.pop_back();
            end_row();
        } else {
            field += c;
        }
    }
    if (field.ends_with('\r'))
        field.pop_back();
    end_row();
    return rows;
}

FileListing list_csv(const std::filesystem::path& file, const WorkWatch& watch) {
    const auto bytes = file_bytes(file, largest_file);
    auto rows = parse_csv({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (rows.empty())
        throw DataError("'" + file.string() + "' is empty: lines of file and class were expected.");
    Columns columns;
    auto first = rows.begin();
    if (const auto named = named_columns(rows.front())) {
        columns = *named;
        ++first;
    } else if (rows.front().fields.size() > 2) {
        columns.part = 2;
    }

    FileListing listing;
    ClassLabels labels;
    std::vector<const CsvRow*> good;
    for (auto row = first; row != rows.end(); ++row) {
        if (row->line % 1024 == 0)
            watch.check();
        if (auto fault = fault_of(*row, columns); !fault.empty()) {
            const auto place = file.string() + ", line " + std::to_string(row->line);
            listing.bad.push_back({place, place + " cannot be used: " + std::move(fault) + "."});
            continue;
        }
        labels.emplace(row->fields[columns.label], 0);
        good.push_back(&*row);
    }
    if (good.empty())
        throw DataError("No line of '" + file.string() + "' can be used. " +
                        (listing.bad.empty() ? "It names columns, but no image." : listing.bad.front().reason) +
                        " A line is FILE,CLASS or FILE,CLASS,PART.");
    listing.classes = number_classes(labels);
    for (const auto* row : good) {
        const auto part = columns.part ? *part_named(row->fields[*columns.part]) : Part::train;
        listing.of(part).push_back(
            {file.parent_path() / row->fields[columns.file], labels.at(row->fields[columns.label])});
    }
    return listing;
}

} // namespace espalier
