// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.h"

#include "base/error.h"
#include "base/utf8.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace espalier {
namespace {

std::string number_text(double value) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out << value;
    return out.str();
}

std::string shown(const Json& value) {
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    constexpr std::size_t longest = 80;
    return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

[[noreturn]] void wrong_type(const std::string& path, const std::string& expected, const Json& value) {
    throw ConfigError("'" + path + "' must be " + expected + ", but " + shown(value) + " was given.");
}

[[noreturn]] void outside(const std::string& path, const std::string& least, const std::string& most,
                          const Json& value) {
    throw ConfigError("'" + path + "' must lie between " + least + " and " + most + ", but " + shown(value) +
                      " was given.");
}

double checked_real(const std::string& path, const Json& value, double least, double most) {
    if (!value.is_number())
        wrong_type(path, "a number", value);
    const double number = value.get<double>();
    if (!(number >= least && number <= most))
        outside(path, number_text(least), number_text(most), value);
    return number;
}

std::int64_t checked_integer(const std::string& path, const Json& value, std::int64_t least, std::int64_t most) {
    if (!value.is_number_integer())
        wrong_type(path, "a whole number", value);
    const bool too_large =
        value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (too_large || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
        outside(path, std::to_string(least), std::to_string(most), value);
    return value.get<std::int64_t>();
}

} // namespace

JsonFields::JsonFields(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
    if (!json.is_object())
        wrong_type(path_.empty() ? "the configuration" : path_, "an object", json);
}

std::string JsonFields::path_of(std::string_view key) const {
    return (path_.empty() ? std::string() : path_ + ".") + std::string(key);
}

const Json* JsonFields::find(std::string_view key) {
    known_.emplace_back(key);
    const auto found = json_.find(std::string(key));
    return found == json_.end() ? nullptr : &*found;
}

void JsonFields::read(std::string_view key, bool& value) {
    if (const Json* found = find(key)) {
        if (!found->is_boolean())
            wrong_type(path_of(key), "true or false", *found);
        value = found->get<bool>();
    }
}

void JsonFields::read(std::string_view key, std::string& value) {
    if (const Json* found = find(key)) {
        if (!found->is_string())
            wrong_type(path_of(key), "a text", *found);
        if (!is_utf8(found->get_ref<const std::string&>())) // could not be written to a file of JSON as it is
            throw ConfigError("'" + path_of(key) + "' must be text in UTF-8, but " + shown(*found) +
                              " was given. If it is the name of a file or folder, give that another name.");
        value = found->get<std::string>();
    }
}

void JsonFields::read(std::string_view key, double& value, double least, double most) {
    if (const Json* found = find(key))
        value = checked_real(path_of(key), *found, least, most);
}

void JsonFields::read(std::string_view key, std::int64_t& value, std::int64_t least, std::int64_t most) {
    if (const Json* found = find(key))
        value = checked_integer(path_of(key), *found, least, most);
}

void JsonFields::read(std::string_view key, int& value, std::int64_t least, std::int64_t most) {
    std::int64_t wide = value;
    read(key, wide, least, most);
    value = static_cast<int>(wide);
}

void JsonFields::read(std::string_view key, std::uint64_t& value) {
    const Json* found = find(key);
    if (!found)
        return;
    // A file writes 7 as unsigned; 7 given in C++ is signed. Both are a seed.
    if (found->is_number_integer() && !found->is_number_unsigned() && found->get<std::int64_t>() < 0)
        outside(path_of(key), "0", std::to_string(std::numeric_limits<std::uint64_t>::max()), *found);
    if (!found->is_number_integer())
        wrong_type(path_of(key), "a whole number", *found);
    value = found->get<std::uint64_t>();
}

void JsonFields::read(std::string_view key, std::vector<double>& value, double least, double most) {
    const Json* found = find(key);
    if (!found)
        return;
    if (!found->is_array())
        wrong_type(path_of(key), "a list of numbers", *found);
    value.clear();
    for (const auto& element : *found)
        value.push_back(checked_real(path_of(key), element, least, most));
}

void JsonFields::read(std::string_view key, std::vector<std::int64_t>& value, std::int64_t least, std::int64_t most) {
    const Json* found = list(key);
    if (!found)
        return;
    value.clear();
    for (const auto& element : *found)
        value.push_back(checked_integer(path_of(key), element, least, most));
}

void JsonFields::read_choice(std::string_view key, std::string& value,
                             std::initializer_list<std::string_view> choices) {
    const Json* found = find(key);
    if (!found)
        return;
    std::string list;
    for (auto choice : choices) {
        if (found->is_string() && found->get_ref<const std::string&>() == choice) {
            value = choice;
            return;
        }
        list += (list.empty() ? "" : ", ") + std::string(choice);
    }
    wrong_type(path_of(key), "one of " + list, *found);
}

const Json* JsonFields::object(std::string_view key) {
    const Json* found = find(key);
    if (found && !found->is_object())
        wrong_type(path_of(key), "an object", *found);
    return found;
}

const Json* JsonFields::list(std::string_view key) {
    const Json* found = find(key);
    if (found && !found->is_array())
        wrong_type(path_of(key), "a list", *found);
    return found;
}

void JsonFields::finish() const {
    for (const auto& [key, value] : json_.items())
        if (std::ranges::find(known_, key) == known_.end()) {
            std::string list;
            for (const auto& known : known_)
                list += (list.empty() ? "" : ", ") + known;
            throw ConfigError("'" + path_of(key) + "' is not a setting" +
                              (path_.empty() ? std::string() : " of '" + path_ + "'") + ". Known are: " + list + ".");
        }
}

void check_list_size(const std::string& path, std::size_t size, std::size_t least, std::size_t most) {
    if (size < least || size > most)
        throw ConfigError("'" + path + "' must have between " + std::to_string(least) + " and " + std::to_string(most) +
                          " elements, but has " + std::to_string(size) + ".");
}

} // namespace espalier
