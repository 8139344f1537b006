// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// Reads the keys of one JSON object strictly: a value of another type or outside of its limits throws ConfigError
/// naming the key with its path, the limit and the value. Absent keys leave the variable as it is. finish() refuses the
/// keys that nobody has read.
class JsonFields {
public:
    /// `path` is the object's place ("optimizer"), empty at the top. Throws ConfigError if `json` is no object.
    JsonFields(const Json& json, std::string path);

    void read(std::string_view key, bool& value);
    void read(std::string_view key, std::string& value);
    void read(std::string_view key, double& value, double least, double most);
    void read(std::string_view key, std::int64_t& value, std::int64_t least, std::int64_t most);
    void read(std::string_view key, int& value, std::int64_t least, std::int64_t most);
    void read(std::string_view key, std::uint64_t& value);
    void read(std::string_view key, std::vector<double>& value, double least, double most);
    void read(std::string_view key, std::vector<std::int64_t>& value, std::int64_t least, std::int64_t most);
    /// One of a few words.
    void read_choice(std::string_view key, std::string& value, std::initializer_list<std::string_view> choices);
    /// The object at `key` (for its own JsonFields), or nothing.
    [[nodiscard]] const Json* object(std::string_view key);
    /// The list at `key`, or nothing.
    [[nodiscard]] const Json* list(std::string_view key);
    [[nodiscard]] std::string path_of(std::string_view key) const;

    void finish() const;

private:
    const Json* find(std::string_view key);

    const Json& json_;
    std::string path_;
    std::vector<std::string> known_;
};

/// Throws ConfigError if the list at `path` has fewer or more elements than it may have.
void check_list_size(const std::string& path, std::size_t size, std::size_t least, std::size_t most);

} // namespace espalier
