// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/idx.h"
#include "data/idx_files.h"
#include "texts.h"

#include <QTemporaryDir>
#include <QTest>
#include <optional>
#include <random>

using namespace espalier;
using namespace espalier::test;

namespace {

constexpr std::uint32_t count = 60, side = 9;

struct Outcome {
    std::optional<IdxArray> array;
    std::string error;
};

Outcome parse(const Bytes& file, std::size_t rank) {
    try {
        const auto source = unpacked(bytes_of(file));
        return {read_idx(*source, "the file", rank), {}};
    } catch (const DataError& error) {
        return {{}, error.what()};
    }
}

/// A folder with a small good set, whose files a test then replaces.
class Folder {
public:
    Folder() {
        replace("train-images-idx3-ubyte", idx_bytes({count, side, side}, noise(count * side * side)));
        replace("train-labels-idx1-ubyte", idx_bytes({count}, labels()));
    }

    static Bytes labels() {
        Bytes values(count);
        for (std::uint32_t i = 0; i < count; ++i)
            values[i] = static_cast<std::uint8_t>(i % 10);
        return values;
    }
    [[nodiscard]] std::filesystem::path path() const { return dir_.path().toStdString(); }
    [[nodiscard]] std::string spec() const { return "idx:" + path().string(); }
    void replace(const std::string& name, const Bytes& bytes) { write(path() / name, bytes); }
    void remove(const std::string& name) { std::filesystem::remove(path() / name); }
    [[nodiscard]] std::string error() const { return error_of(spec()); }

    static std::string error_of(const std::string& spec) {
        try {
            (void)open_dataset(spec);
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    }

private:
    QTemporaryDir dir_;
};

} // namespace

class TestIdx : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void plain_and_gzip_by_content_not_by_name() {
        const auto images = idx_bytes({count, side, side}, noise(count * side * side));
        const auto labels = idx_bytes({count}, Folder::labels());
        Folder plain, packed, swapped, dotted;
        for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
            for (auto* folder : {&packed, &swapped, &dotted})
                folder->remove(name);
        packed.replace("train-images-idx3-ubyte.gz", gzip(images));
        packed.replace("train-labels-idx1-ubyte.gz", gzip(labels));
        swapped.replace("train-images-idx3-ubyte", gzip(images)); // gzip without its suffix
        swapped.replace("train-labels-idx1-ubyte.gz", labels);    // plain with a .gz name
        dotted.replace("train-images.idx3-ubyte", images);
        dotted.replace("train-labels.idx1-ubyte", labels);
        const auto hash = open_dataset(plain.spec())->content_hash();
        for (const auto* folder : {&packed, &swapped, &dotted})
            QCOMPARE(open_dataset(folder->spec())->content_hash(), hash);
    }

    void images_and_labels_arrive_as_written() {
        Folder folder;
        const auto test_pixels = noise(2 * side * side, 5);
        folder.replace("t10k-images-idx3-ubyte", idx_bytes({2, side, side}, test_pixels));
        folder.replace("t10k-labels-idx1-ubyte", idx_bytes({2}, {7, 3}));
        const auto set = open_dataset(folder.spec());
        QCOMPARE(set->image(), (ImageShape{1, side, side}));
        QCOMPARE(set->size(Part::train), std::size_t{count});
        QCOMPARE(set->size(Part::test), std::size_t{2});
        QCOMPARE(set->label(Part::test, 0), 7);
        Bytes image(side * side);
        set->read(Part::test, 1, image);
        QCOMPARE(image, Bytes(test_pixels.begin() + side * side, test_pixels.end()));
        QVERIFY(has(set->file(Part::test, 1), "t10k-images-idx3-ubyte, image 1"));
    }

    void gzip_cut_at_60_percent_shows_both_numbers() {
        Folder folder;
        auto packed = gzip(idx_bytes({count, side, side}, noise(count * side * side)));
        packed.resize(packed.size() * 6 / 10);
        folder.remove("train-images-idx3-ubyte");
        folder.replace("train-images-idx3-ubyte.gz", packed);
        const auto error = folder.error();
        QVERIFY2(has(error, "train-images-idx3-ubyte.gz' is incomplete"), error.c_str());
        QVERIFY2(has(error, "4860 bytes were expected"), error.c_str());
        QVERIFY2(has(error, "cut off"), error.c_str());
        const auto number = error.substr(error.find("expected, ") + 10);
        const auto came = std::stoi(number);
        QVERIFY2(came > 2000 && came < 4000, error.c_str());
    }

    void a_web_page_saved_as_gz_is_named() {
        for (const char* page : {"<!DOCTYPE html><html><body>404</body></html>", "<html>", "\n<html>"}) {
            Folder folder;
            folder.remove("train-images-idx3-ubyte");
            folder.replace("train-images-idx3-ubyte.gz", bytes_of_text(page));
            QVERIFY2(has(folder.error(), "web page (HTML)"), folder.error().c_str());
            folder.replace("train-images-idx3-ubyte.gz", gzip(bytes_of_text(page)));
            QVERIFY2(has(folder.error(), "web page (HTML)"), folder.error().c_str());
        }
    }

    void other_contents_are_named() {
        QVERIFY(has(parse({}, 1).error, "it is empty"));
        QVERIFY(has(parse(bytes_of_text("PK\3\4"), 1).error, "ZIP"));
        QVERIFY(has(parse(bytes_of_text("version https://git-lfs"), 1).error, "Git LFS"));
        QVERIFY(has(parse({1, 2, 3, 4}, 1).error, "01 02 03 04"));
        QVERIFY(has(parse({0, 0, 13, 1, 0, 0, 0, 1, 0, 0, 0, 0}, 1).error, "type 13"));
        QVERIFY(has(parse(idx_bytes({2, 2, 2, 2}, Bytes(16)), 3).error, "4 dimensions"));
        QVERIFY(has(parse(idx_bytes({3}, {1, 2, 3}), 3).error, "1 dimension, but 3 were expected"));
        QVERIFY(has(parse({0, 0, 8, 3, 0, 0, 0, 1, 0}, 3).error, "16 bytes were expected, 9 came"));
    }

    void longer_than_announced_is_refused() {
        const auto file = idx_bytes({3}, {1, 2, 3, 4});
        QVERIFY(has(parse(file, 1).error, "longer than its header says"));
        QVERIFY(has(parse(gzip(file), 1).error, "longer than its header says"));
    }

    void a_wrong_checksum_is_refused() {
        auto packed = gzip(idx_bytes({3}, {1, 2, 3}));
        packed[packed.size() - 6] ^= 1;
        QVERIFY2(has(parse(packed, 1).error, "incorrect data check"), parse(packed, 1).error.c_str());
        packed.resize(packed.size() - 4);
        QVERIFY(!parse(packed, 1).array);
    }

    void gzip_in_several_members_is_read() {
        const auto file = idx_bytes({count, side, side}, noise(count * side * side));
        auto packed = gzip(Bytes(file.begin(), file.begin() + 1000));
        const auto rest = gzip(Bytes(file.begin() + 1000, file.end()));
        packed.insert(packed.end(), rest.begin(), rest.end());
        QCOMPARE(parse(packed, 3).array->values, noise(count * side * side));
        packed.insert(packed.end(), 100, 0);
        QVERIFY(parse(packed, 3).array);
        packed.push_back(9);
        QVERIFY(has(parse(packed, 3).error, "not gzip follows"));
    }

    void hostile_headers_take_no_memory() {
        for (const auto& extents : std::vector<std::vector<std::uint32_t>>{{0xffffffff, 0xffffffff, 0xffffffff},
                                                                           {0xffffffff, 28, 28},
                                                                           {1, 0, 28},
                                                                           {1, 0x10000, 0x10000},
                                                                           {0, 28, 28}})
            QVERIFY(!parse(idx_bytes(extents, noise(100)), 3).array);
        // 15 GiB are announced, within the limit; were they taken at once, this test would be killed on a small
        // machine.
        const auto error = parse(idx_bytes({20'000'000, 28, 28}, noise(100)), 3).error;
        QVERIFY2(has(error, "15680000000 bytes were expected, 100 came"), error.c_str());
    }

    void counts_that_differ_are_refused() {
        Folder folder;
        folder.replace("train-labels-idx1-ubyte", idx_bytes({59}, Bytes(59)));
        QVERIFY2(has(folder.error(), "holds 60 images"), folder.error().c_str());
        QVERIFY2(has(folder.error(), "59 labels"), folder.error().c_str());
    }

    /// Label 10 of 10 classes, and 255: caught when the set is opened, with file and index.
    void labels_out_of_range_are_named() {
        for (int wrong : {10, 255}) {
            Folder folder;
            auto labels = Folder::labels();
            labels[37] = static_cast<std::uint8_t>(wrong);
            folder.replace("train-labels-idx1-ubyte", idx_bytes({count}, labels));
            const auto error = folder.error();
            QVERIFY2(has(error, "train-labels-idx1-ubyte' has label " + std::to_string(wrong) + " at index 37"),
                     error.c_str());
            QVERIFY2(has(error, "10 classes, 0 to 9"), error.c_str());
        }
    }

    void labels_out_of_range_in_the_test_part_too() {
        Folder folder;
        folder.replace("t10k-images-idx3-ubyte", idx_bytes({2, side, side}, noise(2 * side * side)));
        folder.replace("t10k-labels-idx1-ubyte", idx_bytes({2}, {0, 10}));
        QVERIFY2(has(folder.error(), "t10k-labels-idx1-ubyte' has label 10 at index 1"), folder.error().c_str());
    }

    void the_number_of_classes_can_be_told() {
        Folder folder;
        auto labels = Folder::labels();
        labels[3] = 11;
        folder.replace("train-labels-idx1-ubyte", idx_bytes({count}, labels));
        QCOMPARE(open_dataset(folder.spec() + ",classes=12")->classes(), std::size_t{12});
        QVERIFY(has(Folder::error_of(folder.spec() + ",classes=0"), "1 to 256"));
        QVERIFY(has(Folder::error_of(folder.spec() + ",classes=x"), "1 to 256"));
        std::ofstream(folder.path() / "classes.txt") << "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\r\nthe last\n";
        const auto set = open_dataset(folder.spec());
        QCOMPARE(set->classes(), std::size_t{12});
        QCOMPARE(set->info().classes[10], std::string("k"));
        QCOMPARE(set->info().classes[11], std::string("the last"));
    }

    void a_missing_file_is_named() {
        Folder folder;
        folder.remove("train-labels-idx1-ubyte");
        QVERIFY2(has(folder.error(), "'train-labels-idx1-ubyte', with or without .gz"), folder.error().c_str());
        folder.remove("train-images-idx3-ubyte");
        QVERIFY2(has(folder.error(), "holds no training images"), folder.error().c_str());
    }

    void parts_of_another_size_are_refused() {
        Folder folder;
        folder.replace("t10k-images-idx3-ubyte", idx_bytes({2, 4, 4}, noise(32)));
        folder.replace("t10k-labels-idx1-ubyte", idx_bytes({2}, {0, 1}));
        QVERIFY2(has(folder.error(), "1x4x4"), folder.error().c_str());
    }

    void faults_are_gathered_when_asked_for() {
        Folder folder;
        auto labels = Folder::labels();
        labels[5] = 10;
        labels[6] = 255;
        folder.replace("train-labels-idx1-ubyte", idx_bytes({count}, labels));
        folder.replace("t10k-images-idx3-ubyte", bytes_of_text("<html>"));
        folder.replace("t10k-labels-idx1-ubyte", idx_bytes({2}, {0, 1}));
        std::vector<BadFile> bad;
        const auto set = open_dataset(folder.spec(), {.bad = &bad});
        QCOMPARE(set->size(Part::train), std::size_t{58});
        QCOMPARE(set->label(Part::train, 5), 7);
        QVERIFY(has(set->file(Part::train, 5), "image 7"));
        QCOMPARE(bad.size(), std::size_t{3});
        QVERIFY(has(bad[1].reason, "label 255 at index 6"));
        QVERIFY(has(bad[2].reason, "web page"));
    }

    /// Whatever is cut off or changed: an error in words, or exactly what the file says; never something filled in.
    void no_truncation_is_filled_up() {
        const auto values = noise(3 * 4 * 5);
        const auto file = idx_bytes({3, 4, 5}, values);
        for (const auto& whole : {file, gzip(file)})
            for (std::size_t length = 0; length < whole.size(); ++length) {
                const auto outcome =
                    parse(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)), 3);
                QVERIFY(!outcome.array);
                QVERIFY(!outcome.error.empty());
            }
    }

    void no_mutation_is_filled_up() {
        const auto values = noise(3 * 4 * 5);
        const auto file = idx_bytes({3, 4, 5}, values);
        const auto packed = gzip(file);
        std::mt19937 random(1);
        for (int round = 0; round < 20'000; ++round) {
            const bool plain = round % 2 == 0;
            auto mutated = plain ? file : packed;
            for (auto changes = 1 + random() % 4; changes-- > 0;)
                mutated[random() % mutated.size()] = static_cast<std::uint8_t>(random());
            if (random() % 4 == 0)
                mutated.resize(random() % (mutated.size() + 20), static_cast<std::uint8_t>(1 + random() % 255));
            const auto outcome = parse(mutated, 3);
            if (!outcome.array) {
                QVERIFY(!outcome.error.empty());
                continue;
            }
            if (plain && mutated[0] == 0)
                QCOMPARE(outcome.array->values, Bytes(mutated.begin() + 16, mutated.end()));
            else // what the gzip checksum let pass is the content that was packed
                QCOMPARE(outcome.array->values, values);
        }
    }
};

QTEST_GUILESS_MAIN(TestIdx)
#include "tst_idx.moc"
