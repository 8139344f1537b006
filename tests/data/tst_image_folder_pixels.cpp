// SPDX-License-Identifier: Apache-2.0
// The images of a folder: upright, of three channels, cut and scaled to one size.
#include "base/error.h"
#include "data/image_decoder.h"
#include "data/loader.h"
#include "data/photo_folder.h"
#include "data/resize.h"
#include "data/scan.h"
#include "data/thumbnails.h"
#include "texts.h"

#include <QTest>
#include <algorithm>

using namespace espalier;
using namespace espalier::test;

namespace {

/// Left to right: red, green, blue.
QImage stripes(int width, int height) {
    QImage picture(width, height, QImage::Format_RGB888);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            picture.setPixelColor(x, y, x * 3 < width ? Qt::red : x * 3 < 2 * width ? Qt::green : Qt::blue);
    return picture;
}

double mean_difference(const Bytes& a, const Bytes& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += std::abs(int(a[i]) - int(b[i]));
    return sum / static_cast<double>(a.size());
}

} // namespace

class TestImageFolderPixels : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// As the network sees it in training, as the form shows it, and as a prediction reads it: the same pixels.
    void photos_stand_upright_wherever_they_are_read() {
        constexpr std::int64_t side = 32;
        for (std::uint8_t orientation = 1; orientation <= 8; ++orientation) {
            const PhotoFolder folder;
            folder.write("any/photo.jpg",
                         with_orientation(encoded(stored_as(quadrants(), orientation), "JPG"), orientation));
            const auto trained = read(*decoded(folder, side), Part::train, 0);
            const auto at = [&](std::size_t plane, std::size_t y, std::size_t x) {
                return int(trained[(plane * side + y) * side + x]);
            };
            QVERIFY(at(0, 4, 4) > 200 && at(1, 4, 4) < 60);   // red at the upper left
            QVERIFY(at(1, 4, 28) > 200 && at(0, 4, 28) < 60); // green at the right of it
            QVERIFY(at(2, 28, 4) > 200 && at(0, 28, 4) < 60); // blue below
            const auto predicted = covering(decode_image_file(folder.path() / "any/photo.jpg", 3, side), side, side);
            QCOMPARE(predicted.pixels, trained);
            const auto shown = thumbnails(*listed(folder, side), 1, side);
            QCOMPARE(shown.size(), std::size_t{1});
            QCOMPARE(shown[0].image.pixels, trained);
        }
    }

    void every_kind_of_file_gives_three_channels() {
        const PhotoFolder folder;
        const auto save = [&](const char* name, const QImage& picture, const char* format) {
            folder.write(std::filesystem::path("any") / name, encoded(picture, format));
        };
        const QImage base = plain(8, 8, QColor(120, 120, 120));
        save("1.png", base.convertToFormat(QImage::Format_Grayscale8), "PNG");
        save("2.png", base, "PNG");
        save("3.png", base.convertToFormat(QImage::Format_Indexed8), "PNG");
        save("4.png", base.convertToFormat(QImage::Format_RGBA8888), "PNG");
        save("5.png", base.convertToFormat(QImage::Format_Grayscale16), "PNG");
        save("6.png", base.convertToFormat(QImage::Format_RGBA64), "PNG");
        save("7.jpg", base.convertToFormat(QImage::Format_Grayscale8), "JPG");
        save("8.bmp", base, "BMP");
        const auto set = decoded(folder, 8);
        QCOMPARE(set->image(), (ImageShape{3, 8, 8}));
        QCOMPARE(set->size(Part::train), std::size_t{8});
        for (std::size_t i = 0; i < 8; ++i)
            for (const auto value : read(*set, Part::train, i))
                QVERIFY2(std::abs(int(value) - 120) <= 1, set->file(Part::train, i).c_str());
    }

    void images_are_the_same_decoded_before_or_when_read() {
        const PhotoFolder folder;
        folder.write("a/1.jpg", encoded(gradient(300, 200), "JPG"));
        folder.write("a/2.jpg", encoded(gradient(90, 300), "JPG"));
        folder.write("b/3.png", encoded(gradient(5, 7), "PNG"));
        const auto now = decoded(folder, 16), later = listed(folder, 16);
        for (std::size_t i = 0; i < 3; ++i) {
            QCOMPARE(read(*now, Part::train, i), read(*later, Part::train, i));
            QCOMPARE(cropped(*now, i, 0.3), cropped(*later, i, 0.3));
            // And a prediction sees the image as training does.
            const auto image = decode_image_file(now->file(Part::train, i), 3, 16);
            QCOMPARE(covering(image, 16, 16).pixels, read(*now, Part::train, i));
        }
        QCOMPARE(now->content_hash(), later->content_hash());
        QVERIFY(now->content_hash() != decoded(folder, 17)->content_hash());
    }

    void what_is_too_long_is_cut_at_the_place_asked_for() {
        const PhotoFolder folder;
        folder.write("a/wide.png", encoded(stripes(24, 8), "PNG"));
        const auto set = decoded(folder, 8);
        QVERIFY(set->may_crop());
        const auto pixel = [](const Bytes& image) { return std::array<int, 3>{image[0], image[64], image[128]}; };
        // Twice the size is kept of it: columns 4 to 19.
        QCOMPARE(pixel(read(*set, Part::train, 0)), (std::array<int, 3>{0, 255, 0}));
        QCOMPARE(pixel(cropped(*set, 0, 0)), (std::array<int, 3>{255, 0, 0}));
        const auto last = cropped(*set, 0, 1);
        QCOMPARE((std::array<int, 3>{last[7], last[71], last[135]}), (std::array<int, 3>{0, 0, 255}));
        const PhotoFolder square;
        square.png("a/square.png", Qt::red, 20, 20);
        QVERIFY(!decoded(square, 8)->may_crop());
    }

    void training_crops_at_random_and_evaluation_in_the_middle() {
        const PhotoFolder folder;
        for (int i = 0; i < 4; ++i)
            folder.write("a/" + std::to_string(i) + ".png", encoded(gradient(64, 32), "PNG"));
        const auto set = decoded(folder, 32);
        const auto first_batches = [&](Batches::Use use) {
            Loader loader(all_of(set, Part::train), {.batch = 4, .use = use, .statistics = {{0, 0, 0}, {1, 1, 1}}});
            loader.start(0, 0, 2);
            std::vector<std::vector<float>> images;
            while (const Batch* batch = loader.next())
                images.push_back(batch->images);
            return images;
        };
        const auto training = first_batches(Batches::Use::training);
        QVERIFY(training.at(0) != training.at(1));
        QCOMPARE(first_batches(Batches::Use::training), training);
        const auto evaluation = first_batches(Batches::Use::evaluation);
        const auto middle = read(*set, Part::train, 0);
        for (std::size_t i = 0; i < middle.size(); ++i)
            QCOMPARE(evaluation.at(0)[i], static_cast<float>(middle[i] / 255.0));
    }

    void large_jpegs_are_decoded_at_reduced_scale() {
        const auto jpeg = encoded(gradient(801, 603), "JPG");
        ImageShape original;
        const auto small = decode_image(jpeg, "photo", 3, 32, &original);
        QCOMPARE(original, (ImageShape{3, 603, 801}));
        QVERIFY(small.shape.height < 150);
        QVERIFY(std::min(small.shape.height, small.shape.width) >= 64);
        const auto whole = decode_image(jpeg, "photo", 3);
        QCOMPARE(whole.shape, original);
        QVERIFY(mean_difference(covering(small, 32, 32).pixels, covering(whole, 32, 32).pixels) < 1.0);
        QCOMPARE(decode_image(encoded(gradient(801, 603), "PNG"), "png", 3, 32).shape, original);
        QCOMPARE(decode_image(jpeg, "photo", 3, 603).shape, original);
    }

    void sets_taken_as_they_are_have_the_size_of_their_first_image() {
        const PhotoFolder folder;
        folder.write("a/1.png", {});
        folder.png("a/2.png", Qt::red, 12, 10);
        folder.png("a/3.png", Qt::red, 30, 30);
        QCOMPARE(listed(folder, 0)->image(), (ImageShape{3, 10, 12}));
        const PhotoFolder large;
        large.png("a/1.png", Qt::red, 1500, 10);
        QVERIFY(has(message_of<ConfigError>([&] { (void)listed(large, 0); }), "Set image_size"));
    }

    void an_image_of_any_proportions_is_cut_before_it_is_enlarged() {
        const PhotoFolder folder;
        folder.write("a/line.png", encoded(stripes(20001, 1), "PNG")); // whole, it would take 60 GB
        folder.write("a/column.png", encoded(gradient(1, 20000), "PNG"));
        folder.png("a/pixel.png", Qt::red, 1, 1);
        constexpr std::int64_t side = 1000;
        const auto set = decoded(folder, side);
        QCOMPARE(set->size(Part::train), std::size_t{3});
        const auto image = read(*set, Part::train, 1); // the middle of it is green
        for (std::size_t plane = 0; plane < 3; ++plane)
            QVERIFY(std::ranges::all_of(std::span(image).subspan(plane * side * side, side * side),
                                        [&](auto value) { return value == (plane == 1 ? 255 : 0); }));
        const auto predicted = covering(decode_image_file(folder.path() / "a/line.png", 3, side), side, side);
        QCOMPARE(predicted.pixels, image);
        QCOMPARE(scan_dataset(folder.spec()).total(), std::size_t{3});
    }

    void one_part_can_be_read_alone_at_a_given_size() {
        const PhotoFolder folder;
        folder.png("train/a/1.png", Qt::red);
        folder.write("train/b/2.png", {});
        folder.png("test/b/3.png", Qt::green);
        folder.write("test/b/4.png", {});
        const auto set = open_dataset(
            folder.spec(), {.image = ImageShape{3, 6, 4}, .only = Part::test, .decode = true, .max_bad_share = 0.5});
        QCOMPARE(set->image(), (ImageShape{3, 6, 4}));
        QCOMPARE(set->classes(), std::size_t{2});
        QCOMPARE(set->size(Part::train), std::size_t{0});
        QCOMPARE(set->size(Part::test), std::size_t{1});
        QCOMPARE(set->left_out().size(), std::size_t{1});
    }
};

QTEST_GUILESS_MAIN(TestImageFolderPixels)
#include "tst_image_folder_pixels.moc"
