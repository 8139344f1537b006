// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace espalier::test {

using Bytes = std::vector<std::uint8_t>;

/// An IDX file of unsigned bytes.
inline Bytes idx_bytes(const std::vector<std::uint32_t>& extents, const Bytes& values) {
    Bytes file{0, 0, 8, static_cast<std::uint8_t>(extents.size())};
    for (auto extent : extents)
        for (int shift : {24, 16, 8, 0})
            file.push_back(static_cast<std::uint8_t>(extent >> shift));
    file.insert(file.end(), values.begin(), values.end());
    return file;
}

/// Values that gzip cannot shrink to nothing, none of them zero: a zero in what was read would be filled in.
inline Bytes noise(std::size_t count, std::uint32_t seed = 1) {
    Bytes values(count);
    for (auto& value : values) {
        seed = seed * 1664525 + 1013904223;
        value = static_cast<std::uint8_t>(1 + (seed >> 24) % 255);
    }
    return values;
}

inline Bytes gzip(const Bytes& bytes) {
    z_stream stream{};
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("deflateInit2 failed");
    Bytes packed(deflateBound(&stream, static_cast<uLong>(bytes.size())) + 64);
    stream.next_in = const_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = packed.data();
    stream.avail_out = static_cast<uInt>(packed.size());
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        throw std::runtime_error("deflate failed");
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

inline void write(const std::filesystem::path& path, const Bytes& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline Bytes bytes_of_text(const std::string& text) { return {text.begin(), text.end()}; }

} // namespace espalier::test
