// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "io/csv.h"
#include "io/metrics_file.h"
#include "small_disk.h"

#include <QTemporaryDir>
#include <QtTest>
#include <clocale>
#include <limits>
#include <locale>

using namespace espalier;
using espalier::test::SmallDisk;

namespace {

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Numbers as 1.234,5, as in Germany, for machines that have no such locale installed.
struct GermanNumbers : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

Json steps(std::int64_t first, std::initializer_list<Json> losses) {
    Json event = {{"type", "steps"}, {"step", first}, {"epoch", 0.5}};
    for (const Json& loss : losses) {
        event["loss"].push_back(loss);
        event["accuracy"].push_back(0.25);
        event["learning_rate"].push_back(0.1);
        event["seconds"].push_back(0.001);
    }
    return event;
}

} // namespace

class TestMetricsFile : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void numbers_read_back_exactly() {
        for (const double value : {0.0, -0.0, 0.1, 1.0 / 3.0, 1e27, -5e-324, 1.7976931348623157e308, 1234567.0}) {
            QCOMPARE(std::strtod(csv::cell(value).c_str(), nullptr), value);
        }
        QCOMPARE(csv::cell(std::numeric_limits<double>::quiet_NaN()), std::string("NaN"));
        QCOMPARE(csv::cell(-std::numeric_limits<double>::infinity()), std::string("-Infinity"));
        QCOMPARE(csv::cell(std::int64_t{-1234567}), std::string("-1234567"));
    }

    void text_survives() {
        const std::vector<std::string> cells{"plain", "a,b", "say \"hi\"", "two\nlines", ""};
        std::string line;
        for (const std::string& cell : cells) {
            line += (line.empty() ? "" : ",") + csv::cell(std::string_view(cell));
        }
        QVERIFY(csv::cells_of(line) == cells);
    }

    void writes_steps_and_evaluations() {
        const QTemporaryDir folder;
        const std::filesystem::path run = folder.path().toStdString();
        MetricsFile metrics(run);
        metrics.take({{"type", "plan"}, {"steps_per_epoch", 4}});
        metrics.take(steps(1, {2.5, "NaN"}));
        metrics.take({{"type", "evaluation"},
                      {"epoch", 1},
                      {"step", 2},
                      {"set", "validation"},
                      {"loss", 1.5},
                      {"accuracy", 0.75}});
        metrics.take({{"type", "heartbeat"}, {"step", 2}});
        QCOMPARE(read(run / MetricsFile::name), std::string("step,epoch,set,loss,accuracy,learning_rate,seconds\n"
                                                            "1,0.5,training,2.5,0.25,0.1,0.001\n"
                                                            "2,0.75,training,NaN,0.25,0.1,0.001\n"
                                                            "2,1,validation,1.5,0.75,,\n"));
    }

    /// A crash at step 150 and a resume from 100: no row of the old tail stays, and none comes twice.
    void a_resume_takes_the_old_tail_away() {
        const QTemporaryDir folder;
        const std::filesystem::path run = folder.path().toStdString();
        const auto write = [&](std::int64_t from, std::int64_t to) {
            MetricsFile metrics(run);
            if (from > 1) {
                metrics.take({{"type", "superseded"}, {"from_step", from - 1}});
            }
            for (std::int64_t step = from; step <= to; ++step) {
                metrics.take(steps(step, {1.0 / static_cast<double>(step)}));
            }
        };
        write(1, 200);
        const std::string uninterrupted = read(run / MetricsFile::name);
        std::filesystem::remove(run / MetricsFile::name);
        write(1, 150);
        std::ofstream(run / MetricsFile::name, std::ios::app) << "151,0.5,trai"; // cut off by the crash
        write(101, 200);
        QCOMPARE(read(run / MetricsFile::name), uninterrupted);
    }

    void rows_that_a_full_disk_refuses_are_written_when_there_is_room() {
        const QTemporaryDir whole, full;
        MetricsFile expected(whole.path().toStdString()), file(full.path().toStdString());
        for (int i = 0; i < 100; ++i)
            expected.take(steps(i + 1, {0.5}));
        {
            const SmallDisk disk(1000);
            int refused = 0;
            for (int i = 0; i < 99; ++i)
                try {
                    file.take(steps(i + 1, {0.5}));
                } catch (const Error&) {
                    ++refused;
                }
            QVERIFY(refused > 50);
        }
        file.take(steps(100, {0.5}));
        const auto rows = [](const QTemporaryDir& folder) {
            return read(std::filesystem::path(folder.path().toStdString()) / MetricsFile::name);
        };
        QCOMPARE(rows(full), rows(whole));
        {
            const SmallDisk disk(1000);
            QVERIFY_THROWS_EXCEPTION(Error, file.take(steps(101, {0.5, 0.5, 0.5})));
        }
        file.take({{"type", "superseded"}, {"from_step", 101}}); // of those that wait, too
        expected.take(steps(101, {0.5}));
        QCOMPARE(rows(full), rows(whole));
    }

    void of_too_many_rows_that_wait_the_newest_are_kept() {
        const QTemporaryDir folder;
        MetricsFile file(folder.path().toStdString());
        Json many = steps(1, {});
        for (const char* key : {"loss", "accuracy", "learning_rate", "seconds"})
            many[key] = std::vector<double>(100'000, 0.125);
        {
            const SmallDisk disk(1000);
            for (int i = 0; i < 8; ++i, many["step"] = 1 + i * 100'000)
                QVERIFY_THROWS_EXCEPTION(Error, file.take(many));
        }
        file.take(steps(800'001, {0.5}));
        const auto text =
            QByteArray::fromStdString(read(std::filesystem::path(folder.path().toStdString()) / MetricsFile::name));
        QVERIFY(text.size() > static_cast<int>(MetricsFile::most_waiting) / 2);
        QVERIFY(text.size() < static_cast<int>(MetricsFile::most_waiting) + 1000);
        auto lines = text.trimmed().split('\n');
        QVERIFY(lines.takeFirst().startsWith("step,"));
        auto step = lines.front().split(',').front().toInt(); // whole rows, without a gap, up to the last
        for (const auto& line : lines)
            QCOMPARE(line.split(',').front().toInt(), step++);
        QCOMPARE(step, 800'002);
    }

    void is_the_same_in_every_locale() {
        const QTemporaryDir folder;
        const std::filesystem::path run = folder.path().toStdString();
        const std::locale before = std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
        std::setlocale(LC_ALL, "de_DE.UTF-8"); // where it is installed
        {
            MetricsFile metrics(run);
            metrics.take(steps(1234567, {1234.5}));
        }
        std::setlocale(LC_ALL, "C");
        std::locale::global(before);
        QCOMPARE(read(run / MetricsFile::name), std::string("step,epoch,set,loss,accuracy,learning_rate,seconds\n"
                                                            "1234567,0.5,training,1234.5,0.25,0.1,0.001\n"));
    }

    void a_folder_that_is_not_there_is_an_error() { QVERIFY_EXCEPTION_THROWN(MetricsFile("/nonexistent/run"), Error); }
};

QTEST_GUILESS_MAIN(TestMetricsFile)
#include "tst_metrics_file.moc"
