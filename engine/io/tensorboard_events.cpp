// SPDX-License-Identifier: Apache-2.0
#include "io/tensorboard_events.h"

#include <array>
#include <bit>

namespace espalier::tensorboard {

namespace {

// Wire types of protobuf.
constexpr unsigned varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5;

void put_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

template <class Word>
void put_word(std::string& out, Word word) {
    for (std::size_t i = 0; i < sizeof(Word); ++i)
        out += static_cast<char>(word >> (8 * i));
}

void put_key(std::string& out, unsigned field, unsigned type) { put_varint(out, field << 3 | type); }

void put(std::string& out, unsigned field, std::string_view bytes) {
    put_key(out, field, delimited);
    put_varint(out, bytes.size());
    out += bytes;
}

std::string event(double time, std::int64_t step) {
    std::string message;
    put_key(message, 1, fixed64);
    put_word(message, std::bit_cast<std::uint64_t>(time));
    put_key(message, 2, varint);
    put_varint(message, static_cast<std::uint64_t>(step));
    return message;
}

/// Castagnoli's polynomial, bits reversed.
constexpr std::array<std::uint32_t, 256> crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
        table[i] = crc;
    }
    return table;
}

/// Masked, because a CRC over bytes that hold a CRC tells little.
std::uint32_t masked_crc(std::string_view bytes) {
    static constexpr auto table = crc_table();
    std::uint32_t crc = 0xffffffffu;
    for (const char byte : bytes)
        crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ crc >> 8;
    return std::rotr(~crc, 15) + 0xa282ead8u;
}

} // namespace

std::string version_event(double time) {
    auto message = event(time, 0);
    put(message, 3, "brain.Event:2");
    return message;
}

std::string session_start(double time, std::int64_t step) {
    std::string log;
    put_key(log, 1, varint);
    put_varint(log, 1); // START
    auto message = event(time, step);
    put(message, 7, log);
    return message;
}

std::string scalar_event(double time, std::int64_t step, std::span<const Scalar> scalars) {
    std::string summary;
    for (const auto& scalar : scalars) {
        std::string value;
        put(value, 1, scalar.tag);
        put_key(value, 2, fixed32);
        put_word(value, std::bit_cast<std::uint32_t>(static_cast<float>(scalar.value)));
        put(summary, 1, value);
    }
    auto message = event(time, step);
    put(message, 5, summary);
    return message;
}

std::string record(std::string_view message) {
    std::string bytes;
    put_word(bytes, std::uint64_t{message.size()});
    put_word(bytes, masked_crc(bytes));
    bytes += message;
    put_word(bytes, masked_crc(message));
    return bytes;
}

} // namespace espalier::tensorboard
