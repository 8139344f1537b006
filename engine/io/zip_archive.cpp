// SPDX-License-Identifier: Apache-2.0
#include "io/zip_archive.h"

#include "base/error.h"

#include <zlib.h>

#include <ctime>
#include <limits>

namespace espalier {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50;
constexpr std::uint16_t version = 20;         // 2.0: deflate
constexpr std::uint16_t utf8_names = 1 << 11; // general purpose bit 11
constexpr std::uint16_t deflated = 8;
constexpr std::size_t most_bytes = std::numeric_limits<std::uint32_t>::max() / 2;

template <typename Number>
void put(std::string& to, Number number) { // little endian
    for (std::size_t i = 0; i < sizeof(Number); ++i)
        to += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff);
}

/// Date in the upper 16 bits, time in the lower, as MS-DOS has them.
std::uint32_t dos_time() {
    const std::time_t now = std::time(nullptr);
    std::tm t{};
#ifdef _WIN32
    localtime_s(&t, &now);
#else
    localtime_r(&now, &t);
#endif
    const auto date = (t.tm_year - 80) << 9 | (t.tm_mon + 1) << 5 | t.tm_mday;
    const auto time = t.tm_hour << 11 | t.tm_min << 5 | t.tm_sec / 2;
    return static_cast<std::uint32_t>(date) << 16 | static_cast<std::uint32_t>(time);
}

std::string deflate_raw(std::string_view bytes) {
    z_stream stream{};
    constexpr int raw = -MAX_WBITS, memory_level = 8; // no zlib header: zip has its own
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
        throw Error("Compression failed: zlib cannot be set up.");
    std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())); // zlib does not write there
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const int result = deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    if (result != Z_STREAM_END)
        throw Error("Compression failed with zlib's code " + std::to_string(result) + ".");
    return packed;
}

} // namespace

void ZipArchive::add(const std::string& name, std::string_view bytes) {
    if (bytes.size() > most_bytes || files_.size() > most_bytes ||
        count_ + 1 > std::numeric_limits<std::uint16_t>::max())
        throw Error("The archive would be too large with " + name + ".");
    const auto packed = deflate_raw(bytes);
    const auto offset = static_cast<std::uint32_t>(files_.size());
    std::string about; // what both headers say
    put(about, version);
    put(about, utf8_names);
    put(about, deflated);
    put(about, dos_time());
    put(about, static_cast<std::uint32_t>(
                   crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()))));
    put(about, static_cast<std::uint32_t>(packed.size()));
    put(about, static_cast<std::uint32_t>(bytes.size()));
    put(about, static_cast<std::uint16_t>(name.size()));
    put(about, std::uint16_t{0}); // no extra field

    put(files_, local_signature);
    files_ += about + name + packed;

    put(directory_, central_signature);
    put(directory_, version);
    directory_ += about;
    put(directory_, std::uint16_t{0}); // no comment
    put(directory_, std::uint16_t{0}); // disk
    put(directory_, std::uint16_t{0}); // internal attributes
    put(directory_, std::uint32_t{0}); // external attributes
    put(directory_, offset);
    directory_ += name;
    ++count_;
}

std::string ZipArchive::finish() && {
    const auto offset = static_cast<std::uint32_t>(files_.size());
    auto archive = std::move(files_) + directory_;
    put(archive, end_signature);
    put(archive, std::uint32_t{0}); // disks
    put(archive, static_cast<std::uint16_t>(count_));
    put(archive, static_cast<std::uint16_t>(count_));
    put(archive, static_cast<std::uint32_t>(directory_.size()));
    put(archive, offset);
    put(archive, std::uint16_t{0}); // no comment
    return archive;
}

} // namespace espalier
