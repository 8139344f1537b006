// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QBuffer>
#include <QImage>
#include <QTemporaryDir>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace espalier::test {

inline std::vector<std::uint8_t> encoded(const QImage& picture, const char* format, int quality = 95) {
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

/// A folder of image files that goes when the test does.
class PhotoFolder {
public:
    [[nodiscard]] std::filesystem::path path() const { return dir_.path().toStdString(); }
    [[nodiscard]] std::string spec() const { return "folder:" + path().string(); }

    void write(const std::filesystem::path& file, const std::vector<std::uint8_t>& bytes) const {
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
