// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QBuffer>
#include <QImage>
#include <QTransform>
#include <QtEndian>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace espalier::test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes encoded(const QImage& picture, const char* format, int quality = 95) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (!picture.save(&buffer, format, quality))
        throw std::runtime_error("QImage::save failed");
    return {bytes.begin(), bytes.end()};
}

/// Four quadrants: red, green / blue, white; not square, so that a wrong turn shows in the size, too.
inline QImage quadrants() {
    QImage picture(48, 32, QImage::Format_RGB888);
    for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 48; ++x)
            picture.setPixelColor(x, y, y < 16 ? (x < 24 ? Qt::red : Qt::green) : (x < 24 ? Qt::blue : Qt::white));
    return picture;
}

/// A JPEG whose EXIF says that it must be turned to stand upright.
inline Bytes with_orientation(Bytes jpeg, std::uint8_t orientation) {
    const Bytes exif{0xff, 0xe1, 0,    34,   'E', 'x', 'i', 'f', 0, 0, 'M', 'M',         0, 42, 0, 0, 0, 8,
                     0,    1,    0x01, 0x12, 0,   3,   0,   0,   0, 1, 0,   orientation, 0, 0,  0, 0, 0, 0};
    jpeg.insert(jpeg.begin() + 2, exif.begin(), exif.end());
    return jpeg;
}

/// How a camera stores an upright picture under each orientation (EXIF 2.32, tag 0x0112).
inline QImage stored_as(const QImage& upright, int orientation) {
    switch (orientation) {
    case 2:
        return upright.mirrored(true, false);
    case 3:
        return upright.mirrored(true, true);
    case 4:
        return upright.mirrored(false, true);
    case 5:
        return upright.transformed(QTransform().rotate(90)).mirrored(true, false);
    case 6:
        return upright.transformed(QTransform().rotate(-90));
    case 7:
        return upright.transformed(QTransform().rotate(90)).mirrored(false, true);
    case 8:
        return upright.transformed(QTransform().rotate(90));
    default:
        return upright;
    }
}

inline QByteArray of_32_bits(quint32 value) {
    QByteArray bytes(4, Qt::Uninitialized);
    qToBigEndian(value, bytes.data());
    return bytes;
}

/// A piece of a PNG, with its checksum.
inline QByteArray chunk(const char* name, const QByteArray& content) {
    const QByteArray checked = name + content;
    quint32 crc = 0xffffffff;
    for (const char byte : checked) {
        crc ^= static_cast<std::uint8_t>(byte);
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc & 1) != 0 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    }
    return of_32_bits(static_cast<quint32>(content.size())) + checked + of_32_bits(~crc);
}

/// EXIF that says no more than the orientation, in the order of bytes of "MM" or "II".
inline QByteArray exif_of(int orientation, bool little) {
    auto exif = little ? QByteArray::fromHex("49492a00080000000100120103000100000000000000")
                       : QByteArray::fromHex("4d4d002a0000000800010112000300000001000000000000");
    exif = exif.leftJustified(26, '\0', true);
    exif[little ? 18 : 19] = static_cast<char>(orientation);
    return exif;
}

/// A PNG with one more piece: before its pixels, or behind them.
inline Bytes with_chunk(Bytes png, const QByteArray& piece, bool behind) {
    constexpr std::ptrdiff_t header = 8 + 25, end = 12;
    png.insert(behind ? png.end() - end : png.begin() + header, piece.begin(), piece.end());
    return png;
}

} // namespace espalier::test
