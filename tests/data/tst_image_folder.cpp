// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/class_mapping.h"
#include "data/file_listing.h"
#include "data/image_decoder.h"
#include "data/loader.h"
#include "data/natural_order.h"
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

std::shared_ptr<const Dataset> decoded(const PhotoFolder& folder, std::int64_t side, double max_bad_share = 1) {
    return open_dataset(folder.spec(), {.image_size = side, .decode = true, .max_bad_share = max_bad_share});
}

std::shared_ptr<const Dataset> listed(const PhotoFolder& folder, std::int64_t side) {
    return open_dataset(folder.spec(), {.image_size = side});
}

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

class TestImageFolder : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void names_stand_in_natural_order() {
        std::vector<std::string> names{"10", "9", "a10b", "a2b", "a02", "b", "", "2", "a", "a2"};
        std::ranges::sort(names, natural_less);
        QCOMPARE(names, (std::vector<std::string>{"", "2", "9", "10", "a", "a02", "a2", "a2b", "a10b", "b"}));
        QVERIFY(!natural_less("a2", "a2"));
    }

    void classes_are_folders_in_natural_order() {
        const PhotoFolder folder;
        for (int i = 25; i >= 0; --i)
            folder.png(std::to_string(i) + "/image.png", QColor(i * 10, 0, 0));
        const auto set = decoded(folder, 8);
        QCOMPARE(set->classes(), std::size_t{26});
        for (std::size_t i = 0; i < 26; ++i) {
            QCOMPARE(set->info().classes[i], std::to_string(i));
            QCOMPARE(set->label(Part::train, i), static_cast<std::int32_t>(i));
            QCOMPARE(int(read(*set, Part::train, i)[0]), int(i) * 10);
        }
        QCOMPARE(set->info().kind, std::string("folder"));
        QCOMPARE(set->size(Part::validation), std::size_t{0});
    }

    void parts_share_their_classes_by_name() {
        const PhotoFolder folder;
        folder.png("train/cat/1.png", Qt::red);
        folder.png("train/dog/deep/er/2.png", Qt::green);
        folder.png("Validation/dog/3.png", Qt::blue);
        folder.png("test/ant/4.png", Qt::white);
        folder.png("test/dog/5.png", Qt::black);
        folder.png("extra/dog/6.png", Qt::black);
        folder.png("train/stray.png", Qt::black);
        const auto set = decoded(folder, 8);
        QCOMPARE(set->info().classes, (std::vector<std::string>{"ant", "cat", "dog"}));
        QCOMPARE(set->size(Part::train), std::size_t{2});
        QCOMPARE(set->label(Part::train, 0), 1);
        QCOMPARE(set->label(Part::train, 1), 2);
        QCOMPARE(set->label(Part::validation, 0), 2);
        QCOMPARE(set->label(Part::test, 0), 0);
        QCOMPARE(set->label(Part::test, 1), 2);
        QVERIFY(has(set->file(Part::train, 1), "train/dog/deep/er/2.png"));
        QVERIFY(has(set->remarks(), "'extra' lies beside 'train'"));
        QVERIFY(has(set->remarks(), "1 image lies beside the folders"));
        QVERIFY(has(scan_dataset(folder.spec()).warnings, "class 'ant' has no training image"));
    }

    void leftovers_and_loops_are_passed_over_and_counted() {
        const PhotoFolder folder;
        folder.png("cat/a.png", Qt::red);
        folder.png("dog/b.JPG", Qt::green); // judged by content, whatever its name
        folder.write("cat/._a.jpg", {1, 2, 3});
        folder.write("cat/.DS_Store", {1});
        folder.write("cat/Thumbs.db", {1});
        folder.write("cat/notes.txt", {1});
        folder.png(".hidden/c.png", Qt::blue);
        folder.png("__MACOSX/d.png", Qt::blue);
        std::filesystem::create_directory_symlink(folder.path() / "cat", folder.path() / "cat" / "again");
        std::filesystem::create_directory_symlink(folder.path(), folder.path() / "dog" / "up");
        const auto set = decoded(folder, 8);
        QCOMPARE(set->info().classes, (std::vector<std::string>{"cat", "dog"}));
        QCOMPARE(set->size(Part::train), std::size_t{2});
        const auto remarks = set->remarks();
        QVERIFY(has(remarks, "5 hidden files or folders"));
        QVERIFY(has(remarks, "2 folders were reached a second time"));
        QVERIFY(has(remarks, "1 file is no image by its name (.txt)"));
        QVERIFY(has(scan_dataset(folder.spec()).warnings, "2 folders were reached a second time"));
    }

    void a_folder_that_is_none_of_classes_says_what_was_expected() {
        const PhotoFolder folder;
        folder.png("a.png", Qt::red);
        QVERIFY(has(message_of<DataError>([&] { (void)listed(folder, 8); }), "but 1 image."));
        std::filesystem::create_directories(folder.path() / "train");
        QVERIFY(has(message_of<DataError>([&] { (void)listed(folder, 8); }), "train/CLASS/IMAGE"));
        std::filesystem::create_directories(folder.path() / "train" / "cat");
        QVERIFY(has(message_of<DataError>([&] { (void)listed(folder, 8); }), "no training images"));
        QVERIFY(has(message_of<DataError>([] { (void)open_dataset("folder:/nowhere"); }), "no folder '/nowhere'"));
    }

    void what_is_no_set_of_images_is_known_without_a_look_into_one() {
        const PhotoFolder folder;
        const auto refusal = [&] { return message_of<DataError>([&] { check_dataset_is_there(folder.spec()); }); };
        QVERIFY(has(refusal(), "but 0 images"));
        std::filesystem::create_directories(folder.path() / "cat" / "deep");
        QVERIFY(has(refusal(), "hold no image for training"));
        std::ofstream(folder.path() / "cat" / "notes.txt") << "no image";
        std::ofstream(folder.path() / "cat" / "._a.jpg") << "left behind";
        std::filesystem::create_directory_symlink(folder.path(), folder.path() / "cat" / "deep" / "loop");
        std::filesystem::create_directories(folder.path() / "test" / "cat");
        std::ofstream(folder.path() / "cat" / "deep" / "broken.jpg") << "only its name is looked at";
        check_dataset_is_there(folder.spec());
        std::filesystem::create_directories(folder.path() / "train"); // now the classes lie in it
        QVERIFY(has(refusal(), "train/CLASS/IMAGE"));
        folder.png("train/dog/1.png", Qt::red);
        check_dataset_is_there(folder.spec());
        for (const char* kind : {"cifar10:", "cifar100:", "idx:"})
            QVERIFY(!message_of<DataError>([&] { check_dataset_is_there(kind + folder.path().string()); }).empty());
    }

    void an_empty_folder_is_a_class_and_warned_of() {
        const PhotoFolder folder;
        folder.png("cat/a.png", Qt::red);
        std::filesystem::create_directories(folder.path() / "dog");
        QCOMPARE(decoded(folder, 8)->classes(), std::size_t{2});
        const auto report = scan_dataset(folder.spec());
        QVERIFY(has(report.warnings, "class 'dog' has no training image"));
        QVERIFY(has(report.warnings, "Only one class"));
    }

    void every_bad_file_is_listed_by_a_scan_and_left_out_of_training() {
        const PhotoFolder folder;
        auto half = encoded(gradient(64, 64), "JPG");
        half.resize(half.size() / 2);
        const std::string page = "<!DOCTYPE html><html>404</html>";
        folder.write("cat/1.jpg", {});
        folder.png("cat/2.png", Qt::red);
        folder.write("cat/3.jpg", half);
        folder.write("dog/4.jpg", {page.begin(), page.end()});
        folder.write("dog/5.webp", {'R', 'I', 'F', 'F', 4, 0, 0, 0, 'W', 'E', 'B', 'P'});
        folder.png("dog/6.png", Qt::green);
        folder.png("test/dog/7.png", Qt::blue); // no train folder: 'test' is a class here

        const auto report = scan_dataset(folder.spec());
        QCOMPARE(report.bad.size(), std::size_t{4});
        for (std::size_t i = 0; i < 4; ++i)
            QVERIFY(has(report.bad[i].file, std::vector<std::string>{"1.jpg", "3.jpg", "4.jpg", "5.webp"}[i]));
        QVERIFY(has(report.bad[0].reason, "empty (0 bytes)"));
        QVERIFY(has(report.bad[1].reason, "cut off"));
        QCOMPARE(report.total(), std::size_t{3});
        QVERIFY(has(report.warnings, "leaves the bad files out: 4 of 7"));

        const auto set = decoded(folder, 8, 0.6);
        QCOMPARE(set->size(Part::train), std::size_t{3});
        QCOMPARE(set->left_out().size(), std::size_t{4});
        QVERIFY(has(set->file(Part::train, 0), "2.png"));
        QVERIFY(has(set->file(Part::train, 1), "6.png"));
        QCOMPARE(set->label(Part::train, 1), 1);
        QCOMPARE(int(read(*set, Part::train, 1)[64]), 255);
        const auto refused = message_of<DataError>([&] { (void)decoded(folder, 8, 0.5); });
        QVERIFY(has(refused, "4 of 7 image files cannot be used"));
        QVERIFY(has(refused, "1.jpg"));
        // Read one by one, a bad file is an error of its own.
        QVERIFY_THROWS_EXCEPTION(DataError, (void)read(*listed(folder, 8), Part::train, 0));
    }

    /// As telephones and browsers write them; Qt may read them with a plug-in, which a PNG of such a name stands for.
    void photos_of_formats_that_cannot_be_read_are_bad_files() {
        for (const std::string end : {".heic", ".HEIF", ".avif", ".jxl", ".webp", ".tif"}) {
            const PhotoFolder folder;
            const std::string ftyp = std::string("\0\0\0\x1c", 4) + "ftypheic and so on";
            folder.write("cat/1" + end, {ftyp.begin(), ftyp.end()});
            check_dataset_is_there(folder.spec());
            QVERIFY(has(message_of<DataError>([&] { (void)decoded(folder, 8); }), "save it as JPEG or PNG"));
            folder.png("cat/2" + end, Qt::red);
            const auto report = scan_dataset(folder.spec());
            QCOMPARE(report.total(), std::size_t{1});
            QCOMPARE(report.bad.size(), std::size_t{1});
            QVERIFY(has(report.bad[0].reason, "save it as JPEG or PNG"));
        }
    }

    void a_set_without_an_image_says_what_was_passed_over() {
        const PhotoFolder folder;
        for (const char* file : {"cat/1.cr2", "cat/2.cr2", "dog/3.mov", "dog/.DS_Store"})
            folder.write(file, {1});
        const auto refused = message_of<DataError>([&] { (void)listed(folder, 8); });
        QVERIFY(has(refused, "has no training images. 1 hidden file"));
        QVERIFY(has(refused, "3 files are no images by their names (.cr2, .mov)"));
    }

    void a_scan_in_a_terminal_stands_in_columns_and_names_a_file_once() {
        const PhotoFolder folder;
        for (const char* name : {"Kätzchen/1.png", "Dog/1.png", "猫/1.png"})
            folder.png(name, QColor(name[0] & 0x7f, 1, 2));
        folder.write("Dog/bad.jpg", {});
        const auto text = scan_dataset(folder.spec()).to_text();
        for (const char* line : {"\n  Dog       1\n", "\n  Kätzchen  1\n", "\n  猫        1\n"})
            QVERIFY2(has(text, line), text.c_str());
        QVERIFY2(has(text, "\nbad: The image '" + (folder.path() / "Dog/bad.jpg").string() + "' is empty"),
                 text.c_str());
    }

    /// A preview shows what there is; only a set of which nothing can be read has none, and says why.
    void bad_files_are_no_end_of_a_preview() {
        const PhotoFolder folder;
        for (int i = 0; i < 20; ++i) {
            const auto name = std::to_string(i) + ".png";
            i % 2 == 0 ? folder.write("cat/" + name, {}) : folder.png("cat/" + name, QColor(i, 0, 0));
            folder.png("dog/" + name, QColor(0, i, 0));
            folder.write("none/" + name, {1, 2, 3});
        }
        const auto shown = thumbnails(*listed(folder, 8), 24, 8);
        QCOMPARE(shown.size(), std::size_t{24});
        QCOMPARE(std::ranges::count(shown, "cat", &Thumbnail::label), std::ptrdiff_t{10});
        QCOMPARE(std::ranges::count(shown, "dog", &Thumbnail::label), std::ptrdiff_t{14});
        std::filesystem::remove_all(folder.path() / "cat");
        std::filesystem::remove_all(folder.path() / "dog");
        QVERIFY(has(message_of<DataError>([&] { (void)thumbnails(*listed(folder, 8), 24, 8); }), "3 bytes only"));
    }

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

    void names_may_be_anything() {
        const PhotoFolder folder;
        const std::string name = "Größe [1] (图) 'ü'";
        const auto deep = std::filesystem::path(name) / std::string(100, 'x') / std::string(100, 'y');
        folder.png(deep / (std::string(100, 'z') + ".png"), Qt::red);
        folder.png(std::filesystem::path("\xff\xfe") / "not utf-8 \xff.png", Qt::blue);
        const auto set = decoded(folder, 8);
        QCOMPARE(set->size(Part::train), std::size_t{2});
        QCOMPARE(set->info().classes[0], name);
        const auto report = scan_dataset(folder.spec());
        QVERIFY(report.bad.empty());
        QCOMPARE(report.total(), std::size_t{2});
    }

    /// Names in the bytes of an older Windows become text, each one its own.
    void names_that_are_not_utf8_are_read_as_windows_1252() {
        const PhotoFolder folder;
        folder.png("caf\xe9/1.png", Qt::red);
        folder.png("caf\xe8/2.png", Qt::green);
        folder.png("50 \x80/3 \xff.png", Qt::blue);
        folder.write("50 \x80/4 \x81.png", {});
        const auto set = decoded(folder, 8);
        QCOMPARE(set->info().classes, (std::vector<std::string>{"50 \xe2\x82\xac", "caf\xc3\xa8", "caf\xc3\xa9"}));
        for (std::size_t i = 0; i < 3; ++i) // blue, green, red
            QCOMPARE(int(read(*set, Part::train, i)[64 * (2 - i)]), 255);
        QVERIFY(has(set->file(Part::train, 0), "3 \xc3\xbf.png"));
        QCOMPARE(set->left_out().size(), std::size_t{1});
        QVERIFY(has(set->left_out()[0].file, "4 \xc2\x81.png"));
        QVERIFY(has(set->left_out()[0].reason, "4 \xc2\x81.png"));
        for (const auto& text : {set->info().classes[0], set->file(Part::train, 0), set->left_out()[0].reason})
            (void)Json(text).dump(); // throws for what is not UTF-8
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

    void classes_of_another_set_are_matched_by_name() {
        const PhotoFolder folder;
        folder.png("dog/1.png", Qt::red);
        folder.png("ant/2.png", Qt::green);
        const auto set = decoded(folder, 8);
        const auto mapped = with_classes(set, {"ant", "bee", "cat", "dog"});
        QCOMPARE(mapped->classes(), std::size_t{4});
        QCOMPARE(mapped->label(Part::train, 0), 0);
        QCOMPARE(mapped->label(Part::train, 1), 3);
        QCOMPARE(read(*mapped, Part::train, 1), read(*set, Part::train, 1));
        QCOMPARE(with_classes(set, {"ant", "dog"}), set);
        const auto refused = message_of<DataError>([&] { (void)with_classes(set, {"cat", "dog"}); });
        QVERIFY(has(refused, "class 'ant', which the network does not know. It knows: cat, dog."));
    }

    void paths_in_specs_are_made_absolute() {
        const auto here = std::filesystem::current_path().string();
        QCOMPARE(with_absolute_path("folder:photos"), "folder:" + here + "/photos");
        QCOMPARE(with_absolute_path("folder:/photos"), std::string("folder:/photos"));
        QCOMPARE(with_absolute_path("builtin"), std::string("builtin"));
        QCOMPARE(with_absolute_path("folders:photos"), std::string("folders:photos")); // refused later, as it was typed
        QCOMPARE(with_absolute_path("synthetic:1x2x3,4,5"), std::string("synthetic:1x2x3,4,5"));
    }

    void a_scan_names_repeated_images_and_sizes() {
        const PhotoFolder folder;
        folder.write("train/a/1.png", encoded(gradient(40, 30), "PNG"));
        folder.write("train/a/2.png", encoded(gradient(40, 30), "PNG"));
        folder.write("train/b/3.png", encoded(gradient(90, 20), "PNG"));
        folder.write("test/b/4.png", encoded(gradient(40, 30), "PNG"));
        const auto json = scan_dataset(folder.spec()).to_json();
        QCOMPARE(json.at("width").get<int>(), 40);
        QCOMPARE(json.at("height").get<int>(), 30);
        QCOMPARE(json.at("sizes").get<int>(), 2);
        QCOMPARE(json.at("largest").dump(), std::string("[90,20]"));
        QCOMPARE(json.at("smallest").dump(), std::string("[40,30]"));
        QCOMPARE(json.at("repeated").size(), std::size_t{2});
        QVERIFY(has(json.at("repeated")[0].at("file").get<std::string>(), "2.png"));
        QVERIFY(has(json.at("repeated")[0].at("same_as").get<std::string>(), "1.png"));
        QVERIFY(has(json.at("repeated")[1].at("file").get<std::string>(), "4.png"));
    }

    void reading_can_be_left_at_any_time() {
        const PhotoFolder folder;
        folder.png("a/0.png", Qt::red);
        for (int i = 1; i < 3000; ++i)
            std::filesystem::create_hard_link(folder.path() / "a/0.png",
                                              folder.path() / "a" / (std::to_string(i) + ".png"));
        const auto code_of = [](const std::function<void()>& work) {
            try {
                work();
            } catch (const Error& error) {
                return error.code();
            }
            return ExitCode::done;
        };
        bool leave = false;
        std::size_t done = 0;
        const WorkWatch half_way{.progress =
                                     [&](std::size_t now, std::size_t total) {
                                         QCOMPARE(total, std::size_t{3000});
                                         done = now;
                                         leave = now >= total / 2;
                                     },
                                 .leave = [&] { return leave; }};
        const auto decode = [&] {
            (void)open_dataset(folder.spec(), {.image_size = 8, .decode = true, .watch = half_way});
        };
        QCOMPARE(code_of(decode), ExitCode::stopped);
        QCOMPARE(done, std::size_t{1500});
        leave = false;
        QCOMPARE(code_of([&] { (void)scan_dataset(folder.spec(), half_way); }), ExitCode::stopped);
        QCOMPARE(done, std::size_t{1500});
        leave = true; // while the folder is listed
        QCOMPARE(code_of([&] { (void)list_image_folder(folder.path(), half_way); }), ExitCode::stopped);
    }
};

QTEST_GUILESS_MAIN(TestImageFolder)
#include "tst_image_folder.moc"
