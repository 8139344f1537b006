// SPDX-License-Identifier: Apache-2.0
// How long a folder of photos takes until training can begin: 200 generated JPEGs of 12 megapixels under as many names
// as asked for (hard links), decoded at reduced scale on all threads.
//
//   bench_photos FOLDER [NAMES [IMAGE_SIZE]]     [4000 [224]]
#include "base/threads.h"
#include "data/dataset.h"

#include <QBuffer>
#include <QImage>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>

using namespace espalier;
namespace fs = std::filesystem;

namespace {

constexpr int photos = 200, width = 4000, height = 3000;

/// Soft shapes with a grain on them: compresses to about what a camera's file has (4 to 5 MB).
QImage photo(std::size_t number) {
    std::mt19937 random(static_cast<std::uint32_t>(number));
    QImage picture(width, height, QImage::Format_RGB888);
    for (int y = 0; y < height; ++y) {
        auto* pixel = picture.scanLine(y);
        for (int x = 0; x < width; ++x)
            for (int channel = 0; channel < 3; ++channel) {
                const int shape = (x * (channel + 1) / 40 + y / 30 + static_cast<int>(number) * 7) % 200;
                *pixel++ = static_cast<std::uint8_t>(shape + static_cast<int>(random() >> 28));
            }
    }
    return picture;
}

std::string name_of(std::size_t number) { return std::to_string(number % 10) + "/" + std::to_string(number) + ".jpg"; }

void make_photos(const fs::path& folder, std::size_t names) {
    for (int i = 0; i < 10; ++i)
        fs::create_directories(folder / std::to_string(i));
    for_each_image(photos, {}, [&](std::size_t i) {
        if (fs::exists(folder / name_of(i)))
            return;
        QByteArray bytes;
        QBuffer buffer(&bytes);
        buffer.open(QIODevice::WriteOnly);
        photo(i).save(&buffer, "JPG", 90);
        std::ofstream(folder / name_of(i), std::ios::binary).write(bytes.constData(), bytes.size());
    });
    for (std::size_t i = photos; i < names; ++i)
        if (!fs::exists(folder / name_of(i)))
            fs::create_hard_link(folder / name_of(i % photos), folder / name_of(i));
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "bench_photos FOLDER [NAMES [IMAGE_SIZE]]\n");
        return 2;
    }
    const fs::path folder = argv[1];
    const std::size_t names = argc > 2 ? std::stoul(argv[2]) : 4000;
    const auto side = argc > 3 ? std::stol(argv[3]) : 224L;
    make_photos(folder, std::max<std::size_t>(names, photos));
    const auto start = std::chrono::steady_clock::now();
    const auto set = open_dataset("folder:" + folder.string(), {.image_size = side, .decode = true});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%zu photos of %d x %d (%ju KB each) to %ld pixels: %.1f s, %.0f a second on %d threads\n",
                set->size(Part::train), width, height,
                static_cast<std::uintmax_t>(fs::file_size(folder / name_of(0)) / 1024), static_cast<long>(side),
                took.count(), static_cast<double>(set->size(Part::train)) / took.count(), usable_threads());
    return 0;
}
