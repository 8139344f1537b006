// SPDX-License-Identifier: Apache-2.0
#include "data/image_cache.h"
#include "data/loader.h"
#include "data/photo_folder.h"
#include "texts.h"

#include <QTest>
#include <fstream>

using namespace espalier;
using namespace espalier::test;

/// Decoded images on disk: kept from run to run, or spilled there by a run that has more of them than memory.
class TestImageCache : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void decoded_images_are_kept_for_the_next_time() {
        const PhotoFolder folder, cache;
        for (int i = 0; i < 5; ++i)
            folder.write("a/" + std::to_string(i) + ".jpg", encoded(gradient(64 + i, 32), "JPG"));
        folder.write("a/bad.jpg", {});
        const auto open = [&](std::int64_t side = 16, const WorkWatch& watch = {}) {
            return open_dataset(folder.spec(), {.image_size = side,
                                                .decode = true,
                                                .cache = cache.path(),
                                                .cache_after_seconds = 0,
                                                .max_bad_share = 1,
                                                .watch = watch});
        };
        const auto files = [&] {
            std::vector<std::filesystem::path> found;
            for (const auto& entry : std::filesystem::directory_iterator(cache.path()))
                found.push_back(entry.path());
            return found;
        };
        const auto first = open();
        QCOMPARE(files().size(), std::size_t{1});
        const auto kept = files()[0];
        const auto written = std::filesystem::last_write_time(kept);
        // Were they decoded again, a change of a file's bytes that keeps size and time would show.
        const auto path = folder.path() / "a/0.jpg";
        const auto time = std::filesystem::last_write_time(path);
        const auto size = std::filesystem::file_size(path);
        folder.write("a/0.jpg", Bytes(size, 0));
        std::filesystem::last_write_time(path, time);
        const auto second = open();
        QCOMPARE(second->content_hash(), first->content_hash());
        QCOMPARE(second->left_out().size(), std::size_t{1});
        QVERIFY(has(second->left_out()[0].reason, "empty (0 bytes)"));
        for (std::size_t i = 0; i < 5; ++i) {
            QCOMPARE(read(*second, Part::train, i), read(*first, Part::train, i));
            QCOMPARE(cropped(*second, i, 0), cropped(*first, i, 0));
        }
        QVERIFY(std::filesystem::last_write_time(kept) >= written);
        // Another size is another file; a newer image file, too.
        (void)open(8);
        QCOMPARE(files().size(), std::size_t{2});
        std::filesystem::last_write_time(path, time + std::chrono::seconds(2));
        QCOMPARE(open()->size(Part::train), std::size_t{4});
        QCOMPARE(files().size(), std::size_t{3});
    }

    void what_a_killed_process_has_left_goes_when_it_is_old() {
        const PhotoFolder folder, cache;
        folder.write("a/0.jpg", encoded(gradient(64, 32), "JPG"));
        const auto old = cache.path() / "0123-45.part", young = cache.path() / "0123-67.part",
                   other = cache.path() / "notes.txt";
        const auto yesterday = std::filesystem::file_time_type::clock::now() - std::chrono::hours(25);
        for (const auto& file : {old, young, other})
            std::ofstream(file) << "images";
        for (const auto& file : {old, other})
            std::filesystem::last_write_time(file, yesterday);
        (void)open_dataset(folder.spec(), {.image_size = 16, .decode = true, .cache = cache.path()});
        QVERIFY(!std::filesystem::exists(old));
        QVERIFY(std::filesystem::exists(young));
        QVERIFY(std::filesystem::exists(other));
    }

    void a_damaged_cache_is_made_anew_data() {
        QTest::addColumn<double>("place");
        QTest::addColumn<bool>("cut");
        QTest::newRow("an image") << 0.1 << false;
        QTest::newRow("the index") << 0.93 << false;
        QTest::newRow("the footer") << 0.999 << false;
        QTest::newRow("cut off") << 0.5 << true;
        QTest::newRow("empty") << 0.0 << true;
    }

    void a_damaged_cache_is_made_anew() {
        QFETCH(double, place);
        QFETCH(bool, cut);
        const PhotoFolder folder, cache;
        folder.write("a/1.png", encoded(gradient(16, 16), "PNG"));
        const auto open = [&] {
            return open_dataset(folder.spec(),
                                {.image_size = 16, .decode = true, .cache = cache.path(), .cache_after_seconds = 0});
        };
        const auto hash = open()->content_hash();
        const auto file = std::filesystem::directory_iterator(cache.path())->path();
        const auto at = static_cast<std::uintmax_t>(static_cast<double>(std::filesystem::file_size(file)) * place);
        if (cut) {
            std::filesystem::resize_file(file, at);
        } else {
            std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
            stream.seekg(static_cast<std::streamoff>(at));
            const auto byte = static_cast<char>(stream.get() ^ 0x55);
            stream.seekp(static_cast<std::streamoff>(at));
            stream.put(byte);
        }
        QCOMPARE(open()->content_hash(), hash);
        QCOMPARE(open()->content_hash(), hash); // from what was written anew
    }

    void what_does_not_fit_into_memory_lies_in_a_file() {
        const PhotoFolder cache;
        const auto file = cache.path() / "spilled.part";
        constexpr std::size_t size = 20 << 20; // three a block
        {
            ImageStore store(2 * ImageStore::block_bytes, file);
            std::vector<std::uint64_t> places(12);
            for_each_image(places.size(), {},
                           [&](std::size_t i) { places[i] = store.add(Bytes(size, static_cast<std::uint8_t>(i))); });
            QVERIFY(!store.in_memory());
            for_each_image(places.size(), {}, [&](std::size_t i) {
                Bytes image(size);
                store.read(places[i], image);
                if (image != Bytes(size, static_cast<std::uint8_t>(i)))
                    throw std::runtime_error("image " + std::to_string(i) + " is another one");
            });
        }
        QVERIFY(!std::filesystem::exists(file));
    }
};

QTEST_GUILESS_MAIN(TestImageCache)
#include "tst_image_cache.moc"
