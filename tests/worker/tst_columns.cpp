// SPDX-License-Identifier: Apache-2.0
// The column file of a run: the same events as its lines give, whatever happened to it.
#include "base/error.h"
#include "worker/event_files.h"
#include "worker/protocol.h"
#include "worker/run_overview.h"
#include "worker/run_past.h"

#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <sstream>

using namespace espalier;

namespace {

namespace fs = std::filesystem;

/// What the events of a run amount to: each step's loss, each sample of memory, and the other lines.
struct Told {
    std::vector<std::pair<std::int64_t, float>> losses;
    std::vector<std::pair<double, double>> memory;
    std::vector<std::string> lines;

    void line(std::string_view text) {
        const auto event = protocol::parse_line(text);
        if (!event || protocol::is_event(*event, "heartbeat"))
            return;
        if (protocol::is_event(*event, "steps")) {
            auto step = event->at("step").get<std::int64_t>();
            for (const auto& loss : event->at("loss"))
                losses.emplace_back(step++, static_cast<float>(protocol::to_double(loss)));
        } else if (protocol::is_event(*event, "resources")) {
            memory.emplace_back(event->at("step").get<double>(), event->at("memory").at("weights").get<double>());
        } else {
            lines.emplace_back(text);
        }
    }
    void table(const ColumnTable& table) {
        const bool steps = table.kind == ColumnTable::Kind::steps;
        const auto* first = table.find(steps ? "loss" : "step");
        const auto* second = table.find("memory.weights");
        for (std::size_t row = 0; row < table.rows; ++row)
            if (steps)
                losses.emplace_back(table.step + static_cast<std::int64_t>(row), ColumnTable::at<float>(*first, row));
            else
                memory.emplace_back(ColumnTable::at<double>(*first, row), ColumnTable::at<double>(*second, row));
    }
    /// NaN is equal to NaN here.
    [[nodiscard]] bool operator==(const Told& other) const {
        const auto same = [](const auto& a, const auto& b) {
            return a.first == b.first && std::memcmp(&a.second, &b.second, sizeof(a.second)) == 0;
        };
        return std::ranges::equal(losses, other.losses, same) && memory == other.memory && lines == other.lines;
    }
};

Told by_lines(const fs::path& run, std::uint64_t from = 0, Told told = {}) {
    EventCursor cursor(run, from);
    while (!cursor.read(1 << 20, [&](std::string_view line) { told.line(line); })) {
    }
    return told;
}

Told by_columns(const fs::path& run, RunPast& past) {
    Told told;
    for (std::size_t i = 0; i < past.blocks(); ++i) {
        const auto payload = past.payload(i);
        const auto entries = entries_of(payload).value();
        for (const auto& entry : entries)
            if (const auto* table = std::get_if<ColumnTable>(&entry))
                told.table(*table);
            else
                told.line(std::get<std::string_view>(entry));
    }
    return by_lines(run, past.covered(), std::move(told));
}

Json steps_event(std::int64_t first, int count) {
    auto event = protocol::make_event("steps");
    event["step"] = first;
    event["epoch"] = static_cast<double>(first - 1) / 500;
    for (int i = 0; i < count; ++i) {
        const auto step = static_cast<double>(first + i);
        event["loss"].push_back(first + i == 777 ? Json("NaN") : Json(1 / (1 + step / 1000) + 0.1234567890123));
        event["accuracy"].push_back(std::fmod(step, 97) / 97);
        event["seconds"].push_back(0.0123456789);
    }
    return event;
}

/// As a supervisor would: `mib` of events.jsonl from `first` on; the number of the step that follows.
std::int64_t write_events(EventLog& log, const fs::path& run, std::int64_t first, double mib) {
    const auto end = static_cast<double>(fs::file_size(run / events_file)) + mib * (1 << 20);
    while (static_cast<double>(fs::file_size(run / events_file)) < end) {
        log.append(steps_event(first, 50));
        first += 50;
        auto beat = protocol::make_event("heartbeat");
        beat["step"] = first - 1;
        log.append(beat);
        auto resources = protocol::make_event("resources");
        resources["step"] = first - 1;
        resources["memory"] = {{"weights", 1000 + first}, {"optimizer", 0}};
        log.append(resources);
        auto warning = protocol::make_event("warning"); // most of the bytes: they fill blocks and are quickly read
        warning["text"] = std::string(12'000, 'Q');
        log.append(warning);
        if (first % 500 == 1) {
            auto evaluation = protocol::make_event("evaluation");
            evaluation["step"] = first - 1;
            evaluation["epoch"] = (first - 1) / 500;
            evaluation["set"] = "validation";
            evaluation["loss"] = 0.5;
            evaluation["accuracy"] = 0.75;
            evaluation["best_accuracy"] = 0.8;
            evaluation["best_epoch"] = (first - 1) / 500;
            log.append(evaluation);
        }
    }
    return first;
}

std::string bytes_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::stringstream bytes;
    bytes << stream.rdbuf();
    return bytes.str();
}

void put_bytes(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

RunPast open(const fs::path& run) {
    return RunPast(run, [](double) {}, {});
}

} // namespace

class TestColumns : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    fs::path model_; ///< a run of 10 MiB with the column file that its writer kept
    Told told_;      ///< by its lines
    std::int64_t next_ = 1;

    fs::path copy(const char* name) const {
        const fs::path run = fs::path(folder_.path().toStdString()) / name;
        fs::copy(model_, run);
        return run;
    }
    static void same_by_columns(const fs::path& run) { same_by_columns(run, by_lines(run)); }
    static void same_by_columns(const fs::path& run, const Told& told) {
        auto past = open(run);
        QVERIFY(past.blocks() > 0);
        QVERIFY(by_columns(run, past) == told);
        QVERIFY(fs::file_size(run / events_file) - past.covered() <= most_without_columns);
    }

private Q_SLOTS:
    void initTestCase() {
        model_ = fs::path(folder_.path().toStdString()) / "model";
        fs::create_directory(model_);
        EventLog log(model_);
        next_ = write_events(log, model_, 1, 10);
        told_ = by_lines(model_);
        QVERIFY(told_.losses.size() > 10'000);
    }

    void a_writer_keeps_columns_that_tell_the_same() {
        QVERIFY(fs::exists(model_ / column_file_name));
        ColumnFile file(model_ / column_file_name);
        QCOMPARE(file.blocks(), std::size_t{2});
        same_by_columns(model_, told_);
    }

    void a_short_run_has_none() {
        const auto run = fs::path(folder_.path().toStdString()) / "short";
        fs::create_directory(run);
        EventLog log(run);
        write_events(log, run, 1, 0.1);
        QCOMPARE(open(run).blocks(), std::size_t{0});
        QVERIFY(!fs::exists(run / column_file_name));
    }

    void a_missing_file_is_made_and_equals_the_kept_one() {
        const auto run = copy("missing");
        fs::remove(run / column_file_name);
        same_by_columns(run, told_);
        QVERIFY(bytes_of(run / column_file_name) == bytes_of(model_ / column_file_name));
    }

    void damage_is_found_and_mended_data() {
        QTest::addColumn<QString>("damage");
        for (const char* damage :
             {"version", "magic", "first byte of a payload", "last byte", "half", "header", "empty", "junk behind"})
            QTest::newRow(damage) << QString::fromLatin1(damage);
    }
    void damage_is_found_and_mended() {
        QFETCH(QString, damage);
        const auto run = copy(("damaged " + damage).toStdString().c_str());
        auto bytes = bytes_of(run / column_file_name);
        if (damage == "version")
            bytes[8] = 99;
        else if (damage == "magic")
            bytes[0] = 'X';
        else if (damage == "first byte of a payload")
            bytes[16 + 40] ^= 1;
        else if (damage == "last byte")
            bytes.back() ^= 1;
        else if (damage == "half")
            bytes.resize(bytes.size() / 2);
        else if (damage == "header")
            bytes.resize(30);
        else if (damage == "empty")
            bytes.clear();
        else
            bytes += "junk";
        put_bytes(run / column_file_name, bytes);
        same_by_columns(run, told_);
    }

    /// Another events.jsonl under the same sidecar, of the same length.
    void a_stale_file_is_made_anew() {
        const auto run = copy("stale");
        auto bytes = bytes_of(run / events_file);
        for (auto& byte : bytes)
            if (byte == '7' || byte == 'Q')
                ++byte;
        put_bytes(run / events_file, bytes);
        same_by_columns(run);
        auto cut = bytes.substr(0, bytes.size() / 20);
        put_bytes(run / events_file, cut.substr(0, cut.rfind('\n') + 1));
        auto past = open(run);
        QCOMPARE(past.blocks(), std::size_t{0});
        QVERIFY(by_columns(run, past) == by_lines(run));
    }

    void a_resumed_run_appends() {
        const auto run = copy("resumed");
        put_bytes(run / events_file,
                  bytes_of(run / events_file) + "{\"type\":\"steps\",\"step\":99"); // torn by a death
        const auto before = bytes_of(run / column_file_name);
        {
            EventLog log(run);
            auto back = protocol::make_event("superseded");
            back["from_step"] = next_ - 1001;
            log.append(back);
            write_events(log, run, next_ - 1000, 5);
        }
        const auto after = bytes_of(run / column_file_name);
        QVERIFY(after.size() > before.size());
        QVERIFY(after.starts_with(before));
        same_by_columns(run);
        // a writer that finds a block cut off puts whole ones in its place
        put_bytes(run / column_file_name, after.substr(0, after.size() - 10));
        {
            EventLog log(run);
            write_events(log, run, 2'000'000, 5);
        }
        same_by_columns(run);
        QVERIFY(ColumnFile(run / column_file_name).blocks() >= 4);
    }

    void a_run_that_grows_meanwhile_comes_whole() {
        const auto run = copy("growing");
        auto past = open(run);
        EventLog log(run);
        write_events(log, run, next_, 6);
        QVERIFY(by_columns(run, past) == by_lines(run));
    }

    void a_torn_last_line_is_left_for_later() {
        const auto run = copy("torn");
        fs::remove(run / column_file_name);
        put_bytes(run / events_file, bytes_of(run / events_file) + "{\"type\":\"bye\",\"time\":1,\"co");
        auto past = open(run);
        QVERIFY(past.covered() < fs::file_size(run / events_file));
        QVERIFY(by_columns(run, past) == told_);
    }

    void a_folder_that_cannot_be_written_is_read_all_the_same() {
        const auto run = copy("read-only");
        // A folder in the place of the file: no write succeeds, whoever the user is.
        fs::remove(run / column_file_name);
        fs::create_directories(run / column_file_name / "in the way");
        auto past = open(run);
        QVERIFY(past.blocks() > 0);
        QVERIFY(by_columns(run, past) == told_);
        QVERIFY(fs::is_directory(run / column_file_name));
        for (const auto& entry : fs::directory_iterator(run))
            QVERIFY2(entry.path().extension() != ".tmp", entry.path().c_str()); // nothing half is left behind
        EventLog log(run);                                                      // a writer does without
        write_events(log, run, next_, 5);
    }

    void making_them_can_be_stopped() {
        const auto run = copy("stopped");
        fs::remove(run / column_file_name);
        std::stop_source stop;
        try {
            RunPast past(
                run, [&](double) { stop.request_stop(); }, stop.get_token());
            QFAIL("it went on");
        } catch (const Error& error) {
            QCOMPARE(error.code(), ExitCode::stopped);
        }
        QVERIFY(!fs::exists(run / column_file_name));
    }

    void an_overview_holds_the_steps_in_force() {
        const auto run = copy("overview");
        auto past = open(run);
        const auto overview = overview_of(past, {"loss"}, {});
        const auto steps = overview.at("steps").get<std::int64_t>();
        const auto buckets = overview.at("buckets").get<std::size_t>();
        QVERIFY(buckets <= 1024 && steps > 1024);
        QVERIFY(!overview.at("series").contains("accuracy"));          // not asked for
        QCOMPARE(protocol::number_at(overview, "best_accuracy"), 0.8); // as the newest evaluation in it says
        const auto epochs_behind = steps / 500 - overview.at("best_epoch").get<std::int64_t>();
        QVERIFY(epochs_behind == 0 || epochs_behind == 1);
        const auto values = [&](const char* what) {
            const auto bytes = QByteArray::fromBase64(
                QByteArray::fromStdString(overview.at("series").at("loss").at(what).get<std::string>()));
            std::vector<float> numbers(static_cast<std::size_t>(bytes.size()) / sizeof(float));
            std::memcpy(numbers.data(), bytes.constData(), static_cast<std::size_t>(bytes.size()));
            return numbers;
        };
        const auto low = values("low"), high = values("high");
        QCOMPARE(low.size(), buckets);
        const auto width = overview.at("width").get<std::int64_t>();
        std::vector<float> least(buckets, INFINITY), most(buckets, -INFINITY);
        for (const auto& [step, loss] : told_.losses)
            if (step <= steps && std::isfinite(loss)) {
                auto& place = least[static_cast<std::size_t>((step - 1) / width)];
                place = std::min(place, loss);
                auto& top = most[static_cast<std::size_t>((step - 1) / width)];
                top = std::max(top, loss);
            }
        QCOMPARE(low, least);
        QCOMPARE(high, most);
    }
};

QTEST_GUILESS_MAIN(TestColumns)
#include "tst_columns.moc"
