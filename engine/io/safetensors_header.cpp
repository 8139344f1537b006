// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "base/json.h"
#include "io/safetensors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

namespace espalier::safetensors {

namespace {

struct TypeRow {
    Type type;
    std::size_t size;
    const char* name;
};

constexpr std::array<TypeRow, 10> type_rows{{
    {Type::f64, 8, "F64"},
    {Type::f32, 4, "F32"},
    {Type::f16, 2, "F16"},
    {Type::bf16, 2, "BF16"},
    {Type::i64, 8, "I64"},
    {Type::i32, 4, "I32"},
    {Type::i16, 2, "I16"},
    {Type::i8, 1, "I8"},
    {Type::u8, 1, "U8"},
    {Type::boolean, 1, "BOOL"},
}};

const TypeRow& row_of(Type type) { return type_rows[static_cast<std::size_t>(type)]; }

[[noreturn]] void refuse(const std::string& source, const std::string& reason) {
    throw CheckpointError(source + " is not a sound safetensors file: " + reason +
                          ". It is damaged or was made by another program; use another copy.");
}

/// Parses JSON of at most three levels, refusing a key that comes twice: the parser alone would keep one of the two.
Json parse_without_duplicates(std::string_view json, const std::string& source) {
    std::vector<std::set<std::string>> keys;
    const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
        if (depth > 3) {
            refuse(source, "its header is nested too deeply");
        }
        if (event == Json::parse_event_t::object_start) {
            keys.emplace_back();
        } else if (event == Json::parse_event_t::object_end) {
            keys.pop_back();
        } else if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
            refuse(source, "the name \"" + value.get<std::string>() + "\" comes twice");
        }
        return true;
    };
    try {
        return Json::parse(json, watch);
    } catch (const Json::exception& error) {
        refuse(source, std::string("its header is not JSON (") + error.what() + ")");
    }
}

std::uint64_t unsigned_of(const Json& value, const std::string& source, const std::string& what) {
    // nlohmann keeps integers above 2^64 as floating point: they are refused here too.
    if (!value.is_number_unsigned()) {
        refuse(source, what + " must be a whole number that is not negative, not " + value.dump());
    }
    return value.get<std::uint64_t>();
}

Entry parse_entry(const std::string& name, const Json& json, const std::string& source) {
    const std::string where = "tensor \"" + name + "\"";
    if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") || !json.contains("data_offsets")) {
        refuse(source, where + " has no dtype, shape or data_offsets");
    }
    Entry entry;
    entry.name = name;
    const Json& dtype = json.at("dtype");
    const auto row = std::find_if(type_rows.begin(), type_rows.end(), [&](const TypeRow& r) {
        return dtype.is_string() && dtype.get<std::string>() == r.name;
    });
    if (row == type_rows.end()) {
        refuse(source, where + " has the unknown dtype " + dtype.dump());
    }
    entry.type = row->type;

    const Json& shape = json.at("shape");
    const Json& offsets = json.at("data_offsets");
    if (!shape.is_array() || !offsets.is_array() || offsets.size() != 2) {
        refuse(source, where + " needs a list as shape and two numbers as data_offsets");
    }
    std::uint64_t bytes = row->size;
    for (const Json& extent : shape) {
        const std::uint64_t n = unsigned_of(extent, source, "an extent of " + where);
        constexpr std::uint64_t limit = std::numeric_limits<std::int64_t>::max();
        if (n > limit || (n != 0 && bytes > limit / n)) {
            refuse(source, where + " has a shape that no memory could hold: " + shape.dump());
        }
        bytes *= n;
        entry.shape.push_back(static_cast<std::int64_t>(n));
    }
    entry.begin = unsigned_of(offsets[0], source, "an offset of " + where);
    entry.end = unsigned_of(offsets[1], source, "an offset of " + where);
    if (entry.end < entry.begin || entry.end - entry.begin != bytes) {
        refuse(source, where + " needs " + std::to_string(bytes) + " bytes by its shape, but its data_offsets are " +
                           offsets.dump());
    }
    return entry;
}

Metadata parse_metadata(const Json& json, const std::string& source) {
    if (!json.is_object()) {
        refuse(source, "__metadata__ is not an object");
    }
    Metadata metadata;
    for (const auto& [key, value] : json.items()) {
        if (!value.is_string()) {
            refuse(source, "the metadata \"" + key + "\" is not text");
        }
        metadata[key] = value.get<std::string>();
    }
    return metadata;
}

/// Every byte of the data belongs to exactly one tensor.
void check_cover(std::vector<Entry>& entries, std::uint64_t data_bytes, const std::string& source) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::uint64_t position = 0;
    for (const Entry& entry : entries) {
        if (entry.begin != position) {
            refuse(source, "the data of tensor \"" + entry.name + "\" begins at byte " + std::to_string(entry.begin) +
                               (entry.begin < position ? " and overlaps" : " and leaves a hole after") +
                               " what ends at byte " + std::to_string(position));
        }
        position = entry.end;
    }
    if (position != data_bytes) {
        refuse(source, "its tensors take " + std::to_string(position) + " bytes, the file has " +
                           std::to_string(data_bytes) + " after the header");
    }
}

} // namespace

std::size_t size_of(Type type) { return row_of(type).size; }
std::string name_of(Type type) { return row_of(type).name; }

Header parse_header(std::string_view json, std::uint64_t data_bytes, const std::string& source) {
    if (json.empty() || json.front() != '{') {
        refuse(source, "its header does not begin with {");
    }
    const Json parsed = parse_without_duplicates(json, source);
    Header header;
    for (const auto& [name, value] : parsed.items()) {
        if (name == "__metadata__") {
            header.metadata = parse_metadata(value, source);
        } else {
            header.entries.push_back(parse_entry(name, value, source));
        }
    }
    check_cover(header.entries, data_bytes, source);
    return header;
}

} // namespace espalier::safetensors
