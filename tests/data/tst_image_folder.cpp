// SPDX-License-Identifier: Apache-2.0
// A folder of images: which files are in it, which classes they make, and what is bad.
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
        QVERIFY(has(report.warnings, "leaves the bad files out only if max_bad_share allows so many: 4 of 7"));
        QCOMPARE(report.to_json().at("bad_images"), Json(4)); // which the share of the form is of

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
        QVERIFY(has(json.at("repeated")[0].at("file").get<std::string>(), "4.png")); // a wrong label comes first
        QVERIFY(json.at("repeated")[0].at("in_two_classes").get<bool>());
        QVERIFY(has(json.at("repeated")[1].at("file").get<std::string>(), "2.png"));
        QVERIFY(has(json.at("repeated")[1].at("same_as").get<std::string>(), "1.png"));
        QVERIFY(!json.at("repeated")[1].at("in_two_classes").get<bool>());
    }

    /// However many harmless ones come before it, and in whichever part it is.
    void an_image_in_two_classes_is_a_wrong_label() {
        const PhotoFolder folder;
        folder.png("train/a/000.png", Qt::red);
        folder.write("train/a/001.png", encoded(gradient(40, 30), "PNG"));
        for (int i = 100; i < 250; ++i)
            std::filesystem::create_hard_link(folder.path() / "train/a/000.png",
                                              folder.path() / "train" / "a" / (std::to_string(i) + ".png"));
        folder.write("train/b/1.png", encoded(gradient(40, 30), "PNG"));
        folder.png("train/b/2.png", Qt::blue);
        const ScanReport report = scan_dataset(folder.spec());
        QCOMPARE(report.repeated.size(), std::size_t{100});
        QVERIFY(report.repeated[0].in_two_classes && has(report.repeated[0].file, "b/1.png"));
        QVERIFY(!report.repeated[1].in_two_classes);
        const auto warned = [&](const char* text) {
            return std::ranges::find(report.warnings, text) != report.warnings.end();
        };
        QVERIFY(warned("The same in two classes: 1 image. One of the two labels is wrong."));
        QVERIFY(has(report.to_text(), "b/1.png is ") && has(report.to_text(), "in another class"));
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
