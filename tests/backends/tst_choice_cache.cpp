// SPDX-License-Identifier: Apache-2.0
#include "backends/choice_cache.h"
#include "base/atomic_file.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <thread>

using namespace espalier;
namespace fs = std::filesystem;

namespace {

const std::string card = "NVIDIA X, driver 580.95, cuDNN 9.19.0";

Json choice(int engine) { return {{"engine", engine}, {"knobs", {{2, 4}, {13, 0}}}}; }

/// The file of one card, with `count` choices.
fs::path filled(const fs::path& folder, int count = 1) {
    ChoiceCache cache(folder, card);
    for (int i = 0; i < count; ++i)
        cache.put("problem " + std::to_string(i), choice(i));
    cache.save();
    return cache.file();
}

std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

} // namespace

class TestChoiceCache : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> temporary_;
    [[nodiscard]] fs::path folder() const { return fs::path(temporary_->path().toStdString()) / "new" / "espalier"; }

private Q_SLOTS:
    void init() { temporary_ = std::make_unique<QTemporaryDir>(); }

    void a_choice_comes_back_in_another_process() {
        filled(folder());
        const ChoiceCache cache(folder(), card);
        QVERIFY(cache.find("problem 0") == choice(0));
        QVERIFY(!cache.find("problem 1"));
        QVERIFY(cache.warnings().empty());
        QCOMPARE(files_in(folder()), std::size_t{1}); // nothing temporary stays
    }

    void another_card_driver_or_library_has_choices_of_its_own() {
        filled(folder());
        ChoiceCache other(folder(), "NVIDIA X, driver 590.1, cuDNN 9.19.0");
        QVERIFY(!other.find("problem 0"));
        other.put("problem 0", choice(7));
        other.save();
        QVERIFY(ChoiceCache(folder(), card).find("problem 0") == choice(0));
    }

    void what_cannot_be_used_is_told_and_replaced_data() {
        QTest::addColumn<QByteArray>("content");
        const auto whole = [] {
            QTemporaryDir folder;
            std::ifstream stream(filled(folder.path().toStdString(), 20), std::ios::binary);
            return QByteArray::fromStdString({std::istreambuf_iterator<char>(stream), {}});
        }();
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("cut") << whole.left(whole.size() - 9);
        QTest::newRow("html") << QByteArray("<html>moved</html>\n");
        QTest::newRow("binary") << QByteArray(5000, '\0');
        QTest::newRow("another format") << QByteArray(whole).replace("\"espalier_algorithms\":",
                                                                     "\"espalier_algorithms\":9");
        QTest::newRow("another card") << QByteArray(whole).replace("580", "570");
        QTest::newRow("wrong fields") << whole + "{\"problem\":7}\n";
        QTest::newRow("far too large") << whole + QByteArray(9 << 20, ' ');
    }
    void what_cannot_be_used_is_told_and_replaced() {
        QFETCH(QByteArray, content);
        const auto file = filled(folder());
        std::ofstream(file, std::ios::binary).write(content.constData(), content.size());
        ChoiceCache cache(folder(), card);
        QCOMPARE(cache.warnings().size(), std::size_t{1});
        QVERIFY(cache.warnings()[0].find(file.string()) != std::string::npos);
        QVERIFY(!cache.find("problem 0"));
        cache.put("problem 3", choice(3));
        cache.save();
        QCOMPARE(cache.warnings().size(), std::size_t{1}); // told once
        const ChoiceCache again(folder(), card);
        QVERIFY(again.warnings().empty());
        QVERIFY(again.find("problem 3") == choice(3));
    }

    void processes_that_save_in_turn_lose_nothing() {
        ChoiceCache one(folder(), card), two(folder(), card);
        one.put("a", choice(1));
        two.put("b", choice(2));
        one.save();
        two.save();
        const ChoiceCache both(folder(), card);
        QVERIFY(both.find("a") == choice(1));
        QVERIFY(both.find("b") == choice(2));
    }

    void many_writers_leave_a_whole_file() {
        std::vector<std::thread> writers;
        for (int writer = 0; writer < 4; ++writer)
            writers.emplace_back([this, writer] {
                for (int i = 0; i < 10; ++i) {
                    ChoiceCache cache(folder(), card);
                    cache.put(std::to_string(writer) + " " + std::to_string(i), choice(i));
                    cache.save();
                }
            });
        for (auto& writer : writers)
            writer.join();
        QVERIFY(ChoiceCache(folder(), card).warnings().empty());
        QCOMPARE(files_in(folder()), std::size_t{1});
    }

    void file_and_folder_stay_bounded() {
        filled(folder(), static_cast<int>(ChoiceCache::most_choices) + 10);
        const ChoiceCache cache(folder(), card);
        QVERIFY(!cache.find("problem 9")); // the oldest
        QVERIFY(cache.find("problem 10").has_value());
        const auto now = fs::file_time_type::clock::now();
        const auto age = [&](const fs::path& file, std::size_t days) {
            fs::last_write_time(file, now - std::chrono::days(days));
        };
        age(cache.file(), 90);
        std::vector<fs::path> files;
        for (std::size_t i = 0; i < ChoiceCache::most_files + 5; ++i) {
            ChoiceCache other(folder(), "card " + std::to_string(i));
            other.put("a", choice(1));
            other.save();
            files.push_back(other.file());
            age(files.back(), 80 - i);
        }
        QCOMPARE(files_in(folder()), ChoiceCache::most_files);
        QVERIFY(!fs::exists(cache.file())); // the oldest
        for (std::size_t i = 0; i < files.size(); ++i)
            QCOMPARE(fs::exists(files[i]), i >= 5);
    }

    void unfinished_files_count_for_nothing_and_go_when_they_are_old() {
        const auto written = filled(folder());
        std::vector<fs::path> unfinished;
        for (std::size_t i = 0; i < ChoiceCache::most_files; ++i) {
            unfinished.push_back(folder() / ("algorithms-" + std::to_string(i) + ".jsonl.partial"));
            QVERIFY(AtomicFile::is_temporary(unfinished.back()));
            std::ofstream(unfinished.back()) << "cut";
        }
        fs::last_write_time(unfinished[0], fs::file_time_type::clock::now() - std::chrono::days(1));
        ChoiceCache other(folder(), "another card");
        other.put("a", choice(1));
        other.save();
        QVERIFY(fs::exists(written));
        QVERIFY(!fs::exists(unfinished[0]));
        QVERIFY(fs::exists(unfinished[1])); // another process may be writing it
    }

    void a_place_that_cannot_be_written_is_a_warning() {
        const auto file = temporary_->filePath("file").toStdString();
        std::ofstream(file) << "no folder";
        ChoiceCache cache(fs::path(file) / "espalier", card);
        cache.put("a", choice(1));
        cache.save();
        QCOMPARE(cache.warnings().size(), std::size_t{1});
        QVERIFY(cache.find("a") == choice(1)); // for this process it holds
        ChoiceCache nowhere({}, card);
        nowhere.put("a", choice(1));
        nowhere.save();
        QVERIFY(nowhere.warnings().empty());
    }
};

QTEST_APPLESS_MAIN(TestChoiceCache)
#include "tst_choice_cache.moc"
