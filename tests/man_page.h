// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

/// A man page (roff), as tests compare it with what a program really takes.
namespace espalier::test {

class ManPage {
public:
    explicit ManPage(const std::string& file) {
        std::ifstream stream(file);
        text_.assign(std::istreambuf_iterator<char>(stream), {});
        if (text_.empty())
            throw std::runtime_error(file + " cannot be read");
        std::erase(text_, '\\'); // in front of dashes
    }

    /// What stands below `.SH NAME`, or below `.SS "NAME ..."`; empty if there is no such heading.
    [[nodiscard]] std::string section(const std::string& name) const {
        for (const std::string heading : {".SH ", ".SS "})
            for (auto at = text_.find(heading); at != std::string::npos; at = text_.find(heading, at + 1)) {
                const auto line_end = text_.find('\n', at);
                auto title = text_.substr(at + heading.size(), line_end - at - heading.size());
                std::erase(title, '"');
                if (title != name && !title.starts_with(name + " "))
                    continue;
                auto end = std::min(text_.find("\n.SH ", line_end), text_.find("\n.SS ", line_end));
                return text_.substr(line_end, end == std::string::npos ? end : end - line_end);
            }
        return {};
    }

    /// The long options that are explained in such a text, each with what its value is called ("--batch N", "--json"):
    /// each is the tag of a .TP paragraph.
    [[nodiscard]] static std::set<std::string> options_in(const std::string& section) {
        std::set<std::string> options;
        static const std::regex tag("\n\\.TP\n([^\n]*)"), option("--[a-z][a-z-]*( [^ -][^ ]*)?"), spaces(" +");
        for (std::sregex_iterator one(section.begin(), section.end(), tag), end; one != end; ++one) {
            auto line = one->str(1);
            std::erase(line, '"');
            line = std::regex_replace(line, spaces, " ");
            for (std::sregex_iterator found(line.begin(), line.end(), option); found != end; ++found)
                options.insert(found->str());
        }
        return options;
    }

private:
    std::string text_;
};

} // namespace espalier::test
