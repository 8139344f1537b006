// SPDX-License-Identifier: Apache-2.0
#include "base/appended_file.h"
#include "base/error.h"
#include "small_disk.h"
#include "texts.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

using namespace espalier;
using namespace espalier::test;

class TestAppendedFile : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    const std::filesystem::path file_ = folder_.filePath("lines").toStdString();

    [[nodiscard]] std::string text() const {
        std::ifstream stream(file_, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    void put(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }

private Q_SLOTS:
    /// Of long lines, which pass a stream's buffer by, and of short ones, which stay in it.
    void what_a_full_disk_refuses_is_taken_back_data() {
        QTest::addColumn<int>("length");
        QTest::newRow("short") << 100;
        QTest::newRow("long") << 100'000;
    }
    void what_a_full_disk_refuses_is_taken_back() {
        QFETCH(int, length);
        const auto line = [&](char c) { return std::string(static_cast<std::size_t>(length), c) + '\n'; };
        put("");
        AppendedFile file(file_, AppendedFile::HalfLine::is_ended);
        QVERIFY(file.is_empty());
        file.append(line('a'));
        {
            const SmallDisk disk(static_cast<rlim_t>(length) * 3 / 2);
            for (int i = 0; i < 3; ++i) {
                const auto refusal = message_of<Error>([&] { file.append(line('b')); });
                QVERIFY2(has(refusal, "lines cannot be written: File too large"), refusal.c_str());
                QCOMPARE(text(), line('a'));
            }
        }
        file.append(line('c')); // there is room again
        QCOMPARE(text(), line('a') + line('c'));
    }

    void a_line_left_unfinished_is_ended_or_removed() {
        const std::string long_half(200'000, 'y');
        for (const auto& half : {std::string("half"), long_half}) {
            put("one\n" + half);
            AppendedFile(file_, AppendedFile::HalfLine::is_ended).append("two\n");
            QCOMPARE(text(), "one\n" + half + "\ntwo\n");
            put("one\n" + half);
            AppendedFile(file_, AppendedFile::HalfLine::is_removed).append("two\n");
            QCOMPARE(text(), std::string("one\ntwo\n"));
            put(half);
            QVERIFY(AppendedFile(file_, AppendedFile::HalfLine::is_removed).is_empty());
        }
    }

    void a_place_that_is_not_there_is_named() {
        const auto refusal =
            message_of<Error>([] { const AppendedFile file("/nowhere/lines", AppendedFile::HalfLine::is_ended); });
        QVERIFY2(has(refusal, "/nowhere/lines cannot be written: No such file"), refusal.c_str());
    }
};

QTEST_GUILESS_MAIN(TestAppendedFile)
#include "tst_appended_file.moc"
