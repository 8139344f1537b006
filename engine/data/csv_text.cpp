// SPDX-License-Identifier: Apache-2.0
#include "data/csv_text.h"

#include "base/error.h"

#include <algorithm>

namespace espalier {
namespace {

char separator_of(std::string_view line) {
    std::size_t commas = 0, semicolons = 0, tabs = 0;
    bool quoted = false;
    for (const char c : line) {
        quoted ^= c == '"';
        if (quoted)
            continue;
        commas += c == ',';
        semicolons += c == ';';
        tabs += c == '\t';
    }
    if (tabs > commas && tabs >= semicolons)
        return '\t';
    return semicolons > commas ? ';' : ',';
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t") == std::string_view::npos; }

/// Without the spaces around it.
std::string_view trimmed(std::string_view text) {
    if (is_blank(text))
        return {};
    const auto begin = text.find_first_not_of(" \t");
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

class CsvParser {
public:
    CsvParser(char separator, char line_end, std::size_t line)
        : separator_(separator), line_end_(line_end), line_(line), row_{line, {}} {}

    std::vector<CsvRow> rows_of(std::string_view text) {
        for (std::size_t i = 0; i < text.size(); ++i)
            if (quoted_ && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"')
                field_ += text[i++];
            else
                take(text[i]);
        if (quoted_)
            throw DataError("the quote that begins in line " + std::to_string(quote_line_) +
                            " is never closed. A quote within quotes is written twice (\"\").");
        end_row();
        return std::move(rows_);
    }

private:
    void take(char c) {
        const bool ends_line = c == line_end_;
        line_ += ends_line;
        if (c == '"' && quoted_) {
            quoted_ = false;
        } else if (c == '"' && is_blank(field_) && !was_quoted_) {
            field_.clear();
            quoted_ = was_quoted_ = true;
            quote_line_ = line_;
        } else if (quoted_) {
            field_ += c;
        } else if (c == separator_) {
            end_field();
        } else if (ends_line) {
            end_row();
        } else if (c != '\r' && !(was_quoted_ && (c == ' ' || c == '\t'))) { // spaces behind a quoted field
            field_ += c;
        }
    }

    void end_field() {
        row_.fields.emplace_back(was_quoted_ ? std::string_view(field_) : trimmed(field_));
        field_.clear();
        was_quoted_ = false;
    }

    void end_row() {
        end_field();
        if (row_.fields.size() > 1 || !row_.fields[0].empty())
            rows_.push_back(std::move(row_));
        row_ = {line_, {}};
    }

    const char separator_, line_end_;
    std::size_t line_, quote_line_ = 0;
    CsvRow row_;
    std::vector<CsvRow> rows_;
    std::string field_;
    bool quoted_ = false, was_quoted_ = false; ///< within quotes; in a field that had some
};

} // namespace

std::vector<CsvRow> parse_csv(std::string_view text) {
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") || text.find('\0') != std::string_view::npos)
        throw DataError("it is UTF-16 text or no text at all, but UTF-8 was expected. Save it as CSV in UTF-8.");
    if (text.starts_with("\xef\xbb\xbf"))
        text.remove_prefix(3);
    const char line_end = text.find('\n') == std::string_view::npos ? '\r' : '\n';
    auto first = text.substr(0, text.find_first_of("\r\n"));
    if (first.size() == 5 && first.starts_with("sep=")) { // what Excel writes
        text.remove_prefix(std::min(text.size(), text.find(line_end)));
        return CsvParser(first[4], line_end, 1).rows_of(text);
    }
    return CsvParser(separator_of(first), line_end, 1).rows_of(text);
}

} // namespace espalier
