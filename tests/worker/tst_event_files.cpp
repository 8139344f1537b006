// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "small_disk.h"
#include "worker/event_files.h"
#include "worker/protocol.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

using namespace espalier;
using espalier::test::SmallDisk;

namespace {

Json numbered(int number, std::size_t padding = 0) {
    return {{"type", "warning"}, {"time", 1}, {"number", number}, {"text", std::string(padding, 'x')}};
}

Json steps(std::int64_t first, int count) {
    return {{"type", "steps"},
            {"time", 1},
            {"step", first},
            {"loss", std::vector<double>(static_cast<std::size_t>(count), 0.5)}};
}

struct Folder {
    QTemporaryDir directory;
    std::filesystem::path path{directory.path().toStdString()};
};

std::vector<std::string> read_all(EventCursor& cursor, std::size_t budget = 1 << 20) {
    std::vector<std::string> lines;
    while (!cursor.read(budget, [&](std::string_view line) { lines.emplace_back(line); }))
        ;
    return lines;
}

} // namespace

class TestEventFiles : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_cursor_gives_the_past_then_the_rest() {
        const Folder folder;
        EventCursor cursor(folder.path);
        QVERIFY(read_all(cursor).empty());
        EventLog log(folder.path);
        for (int i = 0; i < 2000; ++i)
            log.append(numbered(i, 1000));
        auto lines = read_all(cursor, 64 * 1024);
        QCOMPARE(lines.size(), std::size_t{2000});
        QCOMPARE(protocol::parse_line(lines.back())->at("number"), Json(1999));
        log.append(numbered(2000));
        lines = read_all(cursor);
        QCOMPARE(lines.size(), std::size_t{1});
        QCOMPARE(protocol::parse_line(lines.front())->at("number"), Json(2000));
    }

    /// In their order, those of layers among them, as if there had been room.
    void what_a_full_disk_refuses_is_written_when_there_is_room() {
        const Folder folder;
        EventLog log(folder.path);
        Json sample{{"type", "layers"}, {"time", 1}, {"step", 1}, {"layers", std::string(9000, 'x')}};
        {
            const SmallDisk disk(8000);
            int refused = 0;
            for (int i = 0; i < 20; ++i) {
                try {
                    log.append(i == 3 ? sample : numbered(i, 1000));
                } catch (const Error& error) {
                    QVERIFY2(QString(error.what()).contains("File too large"), error.what());
                    ++refused;
                }
            }
            QCOMPARE(refused, 17); // all behind the first
        }
        log.append(steps(1, 3));
        log.append(steps(4, 3));
        EventCursor cursor(folder.path);
        const auto lines = read_all(cursor);
        QCOMPARE(lines.size(), std::size_t{22});
        for (int i = 0; i < 19; ++i)
            QCOMPARE(protocol::parse_line(lines[static_cast<std::size_t>(i)])->at("number"), Json(i < 3 ? i : i + 1));
        QVERIFY(protocol::is_event(*protocol::parse_line(lines.back()), "layers"));
        QCOMPARE(last_step_of(folder.path), std::int64_t{6});
    }

    void of_too_many_events_that_wait_the_newest_are_kept() {
        const Folder folder;
        EventLog log(folder.path);
        constexpr int count = 80; // of a megabyte each
        {
            const SmallDisk disk(1000);
            for (int i = 0; i < count; ++i)
                QVERIFY_THROWS_EXCEPTION(Error, log.append(numbered(i, 1'000'000)));
        }
        log.append(numbered(count));
        EventCursor cursor(folder.path);
        const auto lines = read_all(cursor);
        const auto kept = static_cast<int>(EventLog::most_waiting / 1'000'000) + 1; // and the last one
        QCOMPARE(static_cast<int>(lines.size()), kept);
        for (int i = 0; i < kept; ++i)
            QCOMPARE(protocol::parse_line(lines[static_cast<std::size_t>(i)])->at("number"),
                     Json(count - kept + 1 + i));
    }

    void layers_have_their_own_file() {
        const Folder folder;
        EventLog log(folder.path);
        log.append({{"type", "layers"}, {"time", 1}, {"layers", Json::array()}});
        log.append(numbered(1));
        QCOMPARE(std::filesystem::file_size(folder.path / layers_file) > 0, true);
        EventCursor cursor(folder.path);
        QCOMPARE(read_all(cursor).size(), std::size_t{2});
    }

    void half_a_line_is_never_given_and_never_spoils_the_next() {
        const Folder folder;
        EventLog(folder.path).append(numbered(1));
        std::ofstream(folder.path / events_file, std::ios::app) << "{\"type\":\"steps\",\"ti";
        EventCursor cursor(folder.path);
        QCOMPARE(read_all(cursor).size(), std::size_t{1});
        EventLog(folder.path).append(numbered(2));
        const auto lines = read_all(cursor);
        QCOMPARE(lines.size(), std::size_t{1});
        QCOMPARE(protocol::parse_line(lines.front())->at("number"), Json(2));
    }

    void events_are_visited_from_the_last() {
        const Folder folder;
        {
            EventLog log(folder.path);
            for (int i = 0; i < 500; ++i)
                log.append(numbered(i, static_cast<std::size_t>(i * 37 % 5000)));
        }
        int expected = 499;
        visit_backwards(folder.path / events_file, [&](const Json& event) {
            if (event.at("number") != expected)
                return false;
            --expected;
            return true;
        });
        QCOMPARE(expected, -1);
        visit_backwards(folder.path / "absent", [](const Json&) { return true; });
    }

    void the_last_step_follows_what_superseded_it() {
        const Folder folder;
        QCOMPARE(last_step_of(folder.path), std::int64_t{0});
        EventLog log(folder.path);
        log.append(steps(1, 100));
        log.append(steps(101, 50));
        log.append(numbered(1));
        QCOMPARE(last_step_of(folder.path), std::int64_t{150});
        log.append({{"type", "superseded"}, {"time", 1}, {"from_step", 100}});
        QCOMPARE(last_step_of(folder.path), std::int64_t{100});
    }
};

QTEST_GUILESS_MAIN(TestEventFiles)
#include "tst_event_files.moc"
