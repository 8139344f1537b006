// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/dataset.h"
#include "turned_photos.h"

#include <QImage>
#include <QTemporaryDir>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace espalier::test {

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

/// All of its images are decoded at once.
inline std::shared_ptr<const Dataset> decoded(const PhotoFolder& folder, std::int64_t side, double max_bad_share = 1) {
    return open_dataset(folder.spec(), {.image_size = side, .decode = true, .max_bad_share = max_bad_share});
}

/// Its images are decoded when they are read.
inline std::shared_ptr<const Dataset> listed(const PhotoFolder& folder, std::int64_t side) {
    return open_dataset(folder.spec(), {.image_size = side});
}

} // namespace espalier::test
