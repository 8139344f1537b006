// SPDX-License-Identifier: Apache-2.0
#include "io/column_file.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <type_traits>

namespace espalier {
namespace {

static_assert(std::endian::native == std::endian::little, "columns are little endian and are not converted here");

constexpr std::string_view magic = "ESPCOLMN";
constexpr std::size_t file_header_bytes = 16;
constexpr std::size_t block_header_bytes = 40;
constexpr std::size_t crc_end = 8; // of the header: what the checksum covers begins here
constexpr std::uint32_t block_magic = 0x424c4345;
constexpr std::uint32_t line_kind = 1;
constexpr std::size_t entry_header_bytes = 8;
constexpr std::size_t table_head_bytes = 28;  // time, step, epoch, rows
constexpr std::uint64_t read_through = 16384; // a shorter gap is read rather than sought over
constexpr std::size_t fingerprint_bytes = 4096;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30; // of a payload: more is damage

std::uint32_t crc(std::uint32_t sum, std::string_view bytes) {
    return static_cast<std::uint32_t>(crc32_z(sum, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

template <typename T>
void put(std::string& bytes, T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes.append(raw, sizeof(T));
}

/// Fills up to a multiple of 8, counted from `begin`.
void pad(std::string& bytes, std::size_t begin) { bytes.append((8 - (bytes.size() - begin) % 8) % 8, '\0'); }

/// Takes values off the front of some bytes; once they do not suffice, `sound` is false for good.
struct Cutter {
    std::string_view bytes;
    std::size_t at = 0;
    bool sound = true;

    std::string_view take(std::size_t count) {
        if (!sound || bytes.size() - at < count) {
            sound = false;
            return {};
        }
        at += count;
        return bytes.substr(at - count, count);
    }
    template <typename T>
    T take() {
        T value{};
        if (const auto raw = take(sizeof(T)); sound)
            std::memcpy(&value, raw.data(), sizeof(T));
        return value;
    }
    void skip_padding() { (void)take((8 - at % 8) % 8); }
};

bool is_table(std::uint32_t kind) {
    return kind == static_cast<std::uint32_t>(ColumnTable::Kind::steps) ||
           kind == static_cast<std::uint32_t>(ColumnTable::Kind::resources);
}

/// What a table begins with; its columns follow.
ColumnTable head_of(Cutter& cutter, ColumnTable::Kind kind) {
    ColumnTable table;
    table.kind = kind;
    table.time = cutter.take<double>();
    table.step = cutter.take<std::int64_t>();
    table.epoch = cutter.take<double>();
    table.rows = cutter.take<std::uint32_t>();
    return table;
}

std::optional<ColumnTable> table_of(std::string_view body, ColumnTable::Kind kind) {
    Cutter cutter{body};
    auto table = head_of(cutter, kind);
    const std::size_t columns = cutter.take<std::uint16_t>(), number = cutter.take<std::uint16_t>();
    if (number != (kind == ColumnTable::Kind::steps ? sizeof(float) : sizeof(double)))
        return std::nullopt;
    for (std::size_t i = 0; i < columns && cutter.sound; ++i)
        table.columns.push_back({cutter.take(cutter.take<std::uint16_t>()), {}});
    for (auto& column : table.columns) {
        cutter.skip_padding();
        column.bytes = cutter.take(table.rows * number);
    }
    return cutter.sound ? std::optional(std::move(table)) : std::nullopt;
}

} // namespace

const ColumnTable::Column* ColumnTable::find(std::string_view name) const {
    const auto found = std::ranges::find(columns, name, &Column::name);
    return found == columns.end() ? nullptr : &*found;
}

void append_entry(std::string& payload, std::string_view line) {
    put(payload, line_kind);
    put(payload, static_cast<std::uint32_t>(line.size()));
    payload += line;
    pad(payload, 0);
}

void append_entry(std::string& payload, const ColumnTable& table) {
    put(payload, static_cast<std::uint32_t>(table.kind));
    put(payload, std::uint32_t{0}); // its bytes, when they are known
    const auto begin = payload.size();
    put(payload, table.time);
    put(payload, table.step);
    put(payload, table.epoch);
    put(payload, static_cast<std::uint32_t>(table.rows));
    put(payload, static_cast<std::uint16_t>(table.columns.size()));
    put(payload, static_cast<std::uint16_t>(table.kind == ColumnTable::Kind::steps ? sizeof(float) : sizeof(double)));
    for (const auto& column : table.columns) {
        put(payload, static_cast<std::uint16_t>(column.name.size()));
        payload += column.name;
    }
    for (const auto& column : table.columns) {
        pad(payload, begin);
        payload += column.bytes;
    }
    const auto bytes = static_cast<std::uint32_t>(payload.size() - begin);
    std::memcpy(payload.data() + begin - sizeof(bytes), &bytes, sizeof(bytes));
    pad(payload, 0);
}

std::optional<std::vector<ColumnEntry>> entries_of(std::string_view payload) {
    std::vector<ColumnEntry> entries;
    Cutter cutter{payload};
    while (cutter.sound && cutter.at < payload.size()) {
        const auto kind = cutter.take<std::uint32_t>();
        const auto body = cutter.take(cutter.take<std::uint32_t>());
        cutter.skip_padding();
        if (kind == line_kind) {
            entries.emplace_back(body);
        } else if (is_table(kind)) {
            auto table = table_of(body, static_cast<ColumnTable::Kind>(kind));
            if (!table)
                return std::nullopt;
            entries.emplace_back(std::move(*table));
        } else {
            return std::nullopt;
        }
    }
    return cutter.sound ? std::optional(std::move(entries)) : std::nullopt;
}

std::optional<std::uint32_t> fingerprint_of(const std::filesystem::path& file, std::uint64_t end) {
    const auto length = std::min<std::uint64_t>(end, fingerprint_bytes);
    std::string bytes(length, '\0');
    std::ifstream stream(file, std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(end - length));
    if (!stream.read(bytes.data(), static_cast<std::streamsize>(length)))
        return std::nullopt;
    return crc(0, bytes);
}

std::string column_file_header() {
    std::string header(magic);
    put(header, column_file_version);
    put(header, std::uint32_t{0});
    return header;
}

std::string column_block(std::string_view payload, const CoveredRange& covers) {
    std::string rest;
    rest.reserve(block_header_bytes - crc_end + payload.size());
    put(rest, static_cast<std::uint64_t>(payload.size()));
    put(rest, covers.begin);
    put(rest, covers.end);
    put(rest, covers.fingerprint);
    put(rest, std::uint32_t{0});
    rest += payload;
    std::string block;
    block.reserve(crc_end + rest.size());
    put(block, block_magic);
    put(block, crc(0, rest));
    return block += rest;
}

ColumnFile::ColumnFile(const std::filesystem::path& file) : stream_(file, std::ios::binary | std::ios::ate) {
    if (!stream_)
        return;
    const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(0, stream_.tellg()));
    std::string header(file_header_bytes, '\0');
    stream_.seekg(0);
    if (!stream_.read(header.data(), static_cast<std::streamsize>(header.size())) || header != column_file_header())
        return;
    header.resize(block_header_bytes);
    for (std::uint64_t at = file_header_bytes; size - at >= block_header_bytes;) {
        stream_.seekg(static_cast<std::streamoff>(at));
        if (!stream_.read(header.data(), static_cast<std::streamsize>(header.size())))
            break;
        Cutter cutter{header};
        const bool begins = cutter.take<std::uint32_t>() == block_magic;
        Block block;
        block.crc = cutter.take<std::uint32_t>();
        block.bytes = cutter.take<std::uint64_t>();
        block.covers.begin = cutter.take<std::uint64_t>();
        block.covers.end = cutter.take<std::uint64_t>();
        block.covers.fingerprint = cutter.take<std::uint32_t>();
        block.payload = at + block_header_bytes;
        const auto before = blocks_.empty() ? 0 : blocks_.back().covers.end;
        if (!begins || block.bytes > most_bytes || size - block.payload < block.bytes || block.covers.begin != before ||
            block.covers.end <= before)
            break;
        blocks_.push_back(block);
        at = block.payload + block.bytes;
    }
    stream_.clear();
}

std::uint64_t ColumnFile::end_of(std::size_t count) const {
    return count == 0 ? 0 : blocks_[count - 1].payload + blocks_[count - 1].bytes;
}

std::optional<std::string> ColumnFile::read(std::size_t index, Checksum checksum) {
    const Block& block = blocks_[index];
    std::string header(block_header_bytes - crc_end, '\0'), payload(block.bytes, '\0'); // what the checksum covers
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(block.payload - header.size()));
    if (!stream_.read(header.data(), static_cast<std::streamsize>(header.size())) ||
        !stream_.read(payload.data(), static_cast<std::streamsize>(payload.size())))
        return std::nullopt;
    if (checksum == Checksum::compared && crc(crc(0, header), payload) != block.crc)
        return std::nullopt;
    return payload;
}

bool ColumnFile::outline(std::size_t index, const OutlineHandlers& handlers) {
    const Block& block = blocks_[index];
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(block.payload));
    std::string bytes;
    const auto read = [&](std::uint64_t count) {
        bytes.resize(count);
        return static_cast<bool>(stream_.read(bytes.data(), static_cast<std::streamsize>(count)));
    };
    for (auto left = block.bytes; left > 0;) {
        if (left < entry_header_bytes || !read(entry_header_bytes))
            return false;
        Cutter header{bytes};
        const auto kind = header.take<std::uint32_t>();
        const std::uint64_t length = header.take<std::uint32_t>(), filled = (length + 7) / 8 * 8;
        left -= entry_header_bytes;
        if (filled > left || (kind != line_kind && (!is_table(kind) || length < table_head_bytes)))
            return false;
        left -= filled;
        if (!read(kind == line_kind ? filled : table_head_bytes))
            return false;
        if (kind == line_kind) {
            handlers.line(std::string_view(bytes).substr(0, length));
            continue;
        }
        Cutter head{bytes};
        handlers.table(head_of(head, static_cast<ColumnTable::Kind>(kind)));
        const auto rest = static_cast<std::streamoff>(filled - table_head_bytes);
        if (filled - table_head_bytes < read_through)
            stream_.ignore(rest);
        else
            stream_.seekg(rest, std::ios::cur);
    }
    return static_cast<bool>(stream_);
}

} // namespace espalier
