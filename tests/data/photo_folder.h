// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/dataset.h"

#include <QBuffer>
#include <QImage>
#include <QTemporaryDir>
#include <QTransform>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
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

/// A picture of one colour, so that it can be told from others after any scaling.
inline QImage plain(int width, int height, const QColor& colour) {
    QImage picture(width, height, QImage::Format_RGB888);
    picture.fill(colour);
    return picture;
}

/// A picture without edges, in which each place has its own colour.
inline QImage gradient(int width, int height) {
    QImage picture(width, height, QImage::Format_RGB888);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            picture.setPixelColor(x, y, QColor(x * 255 / width, y * 255 / height, (x + y) * 255 / (width + height)));
    return picture;
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

inline Bytes read(const Dataset& set, Part part, std::size_t index) {
    Bytes image(set.image().bytes());
    set.read(part, index, image);
    return image;
}

inline Bytes cropped(const Dataset& set, std::size_t index, double place) {
    Bytes image(set.image().bytes());
    set.read_cropped(Part::train, index, place, image);
    return image;
}

/// A folder of image files that goes when the test does.
class PhotoFolder {
public:
    [[nodiscard]] std::filesystem::path path() const { return dir_.path().toStdString(); }
    [[nodiscard]] std::string spec() const { return "folder:" + path().string(); }

    void write(const std::filesystem::path& file, const Bytes& bytes) const {
        const auto whole = path() / file;
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream stream(whole, std::ios::binary);
        stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        if (!stream.flush())
            throw std::runtime_error("cannot write " + whole.string());
    }
    void png(const std::filesystem::path& file, const QColor& colour, int width = 8, int height = 8) const {
        write(file, encoded(plain(width, height, colour), "PNG"));
    }

private:
    QTemporaryDir dir_;
};

} // namespace espalier::test
