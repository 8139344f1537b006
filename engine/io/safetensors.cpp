// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/json.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace espalier::safetensors {

static_assert(std::endian::native == std::endian::little,
              "safetensors data is little endian and is not converted here");

namespace {

template <class T>
T load(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

float half_to_float(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31;
    const int fraction = bits & 1023;
    const float sign = (bits & 0x8000) ? -1.0f : 1.0f;
    if (exponent == 31) {
        return fraction ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
    }
    if (exponent == 0) {
        return sign * std::ldexp(static_cast<float>(fraction), -24);
    }
    return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

float bfloat_to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

/// Calls `take(value)` for each element of an integer type; false for the floating types.
template <class Take>
bool for_each_integer(const Entry& entry, const std::vector<std::byte>& bytes, Take take) {
    const auto all = [&]<class T>(T) {
        for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
            take(static_cast<std::int64_t>(load<T>(&bytes[i])));
        }
        return true;
    };
    switch (entry.type) {
    case Type::i64:
        return all(std::int64_t{});
    case Type::i32:
        return all(std::int32_t{});
    case Type::i16:
        return all(std::int16_t{});
    case Type::i8:
        return all(std::int8_t{});
    case Type::u8:
    case Type::boolean:
        return all(std::uint8_t{});
    default:
        return false;
    }
}

std::string header_text(const std::vector<Item>& items, const Metadata& metadata) {
    Json header = Json::object();
    if (!metadata.empty()) {
        header["__metadata__"] = metadata;
    }
    std::uint64_t position = 0;
    for (const Item& item : items) {
        header[item.name] = {{"dtype", name_of(item.type)},
                             {"shape", item.shape},
                             {"data_offsets", {position, position + item.data.size()}}};
        position += item.data.size();
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' '); // the data begins at a multiple of 8 bytes
    return text;
}

void check(const std::vector<Item>& items) {
    std::set<std::string> names{"__metadata__"};
    for (const Item& item : items) {
        if (!names.insert(item.name).second) {
            throw ConfigError("The tensor name \"" + item.name + "\" cannot be written: it is taken.");
        }
        std::size_t bytes = size_of(item.type);
        for (const std::int64_t extent : item.shape) {
            bytes *= static_cast<std::size_t>(extent);
        }
        if (bytes != item.data.size()) {
            throw ConfigError("The tensor \"" + item.name + "\" needs " + std::to_string(bytes) +
                              " bytes by its shape, not " + std::to_string(item.data.size()) + ".");
        }
    }
}

} // namespace

Reader::Reader(const std::filesystem::path& path)
    : source_("The file " + path.string()), file_(path, std::ios::binary) {
    if (!file_) {
        throw CheckpointError(source_ + " cannot be opened. Check that it is there and may be read.");
    }
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path, error);
    std::array<std::byte, 8> first{};
    if (error || size < first.size() || !file_.read(reinterpret_cast<char*>(first.data()), first.size())) {
        throw CheckpointError(source_ + " is too short to be a safetensors file: at least 8 bytes are needed.");
    }
    const std::uint64_t length = load<std::uint64_t>(first.data());
    const std::uint64_t rest = size - first.size();
    if (length > rest || length > largest_header) {
        throw CheckpointError(source_ + " is not a sound safetensors file: its header would be " +
                              std::to_string(length) + " bytes long, the file has " + std::to_string(rest) +
                              " and at most " + std::to_string(largest_header) +
                              " are read. It is cut off, or something else.");
    }
    std::string text(length, '\0');
    if (!file_.read(text.data(), static_cast<std::streamsize>(length))) {
        throw CheckpointError(source_ + " cannot be read to the end of its header.");
    }
    data_begin_ = first.size() + length;
    header_ = parse_header(text, rest - length, source_);
    for (std::size_t i = 0; i < header_.entries.size(); ++i) {
        index_[header_.entries[i].name] = i;
    }
}

const Entry& Reader::at(const std::string& name) const {
    const auto found = index_.find(name);
    if (found == index_.end()) {
        throw CheckpointError(source_ + " has no tensor \"" + name + "\".");
    }
    return header_.entries[found->second];
}

std::vector<std::byte> Reader::bytes(const std::string& name) const {
    const Entry& entry = at(name);
    std::vector<std::byte> bytes(entry.end - entry.begin);
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(data_begin_ + entry.begin));
    if (!bytes.empty() &&
        !file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) {
        throw CheckpointError(source_ + " became shorter while it was read: tensor \"" + name + "\" is cut off.");
    }
    return bytes;
}

std::vector<float> Reader::floats(const std::string& name) const {
    const Entry& entry = at(name);
    const std::vector<std::byte> raw = bytes(name);
    std::vector<float> values(entry.count());
    if (entry.type == Type::f32) {
        if (!raw.empty()) {
            std::memcpy(values.data(), raw.data(), raw.size());
        }
        return values;
    }
    std::size_t filled = 0;
    if (for_each_integer(entry, raw, [&](std::int64_t value) { values[filled++] = static_cast<float>(value); })) {
        return values;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        switch (entry.type) {
        case Type::f64:
            values[i] = static_cast<float>(load<double>(&raw[i * 8]));
            break;
        case Type::f16:
            values[i] = half_to_float(load<std::uint16_t>(&raw[i * 2]));
            break;
        default:
            values[i] = bfloat_to_float(load<std::uint16_t>(&raw[i * 2]));
            break;
        }
    }
    return values;
}

std::vector<std::int32_t> Reader::integers(const std::string& name) const {
    const Entry& entry = at(name);
    std::vector<std::int32_t> values;
    values.reserve(entry.count());
    const bool whole = for_each_integer(entry, bytes(name), [&](std::int64_t value) {
        if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()) {
            throw CheckpointError(source_ + ": tensor \"" + name + "\" holds " + std::to_string(value) +
                                  ", more than 32 bits can hold.");
        }
        values.push_back(static_cast<std::int32_t>(value));
    });
    if (!whole) {
        throw CheckpointError(source_ + ": tensor \"" + name + "\" should hold whole numbers, but is " +
                              name_of(entry.type) + ".");
    }
    return values;
}

std::filesystem::path write(const std::filesystem::path& path, std::vector<Item> items, const Metadata& metadata,
                            FileOperations& operations) {
    check(items);
    std::stable_sort(items.begin(), items.end(),
                     [](const Item& a, const Item& b) { return size_of(a.type) > size_of(b.type); });
    const std::string header = header_text(items, metadata);
    if (header.size() > largest_header) {
        throw ConfigError("The file " + path.string() + " would have a header of " + std::to_string(header.size()) +
                          " bytes; at most " + std::to_string(largest_header) + " can be read back.");
    }
    AtomicFile file(path, operations);
    const std::uint64_t length = header.size();
    file.write(&length, sizeof length);
    file.write(header);
    for (const Item& item : items) {
        file.write(item.data.data(), item.data.size());
    }
    return file.commit_here_or_beside();
}

} // namespace espalier::safetensors
