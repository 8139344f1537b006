// SPDX-License-Identifier: Apache-2.0
// Overviews of a run and of stretches of it, compared with what its lines amount to when they are simply read.
#include "base/error.h"
#include "worker/event_files.h"
#include "worker/protocol.h"
#include "worker/run_overview.h"
#include "worker/run_summary.h"

#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <cstring>
#include <map>

using namespace espalier;

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> wanted{"loss", "seconds"};
constexpr std::int64_t steps_a_line = 50;

using Values = std::map<std::string, std::map<std::int64_t, float>>; // name, step, value

/// The values in force, line by line.
Values told_by(const fs::path& run) {
    Values values;
    EventCursor cursor(run);
    const auto take = [&](std::string_view line) {
        const auto event = protocol::parse_line(line).value();
        const auto step = static_cast<std::int64_t>(protocol::number_at(event, "step"));
        if (protocol::is_event(event, "steps"))
            for (const auto& name : wanted)
                for (std::size_t i = 0; i < event.at(name).size(); ++i)
                    values[name][step + static_cast<std::int64_t>(i)] =
                        static_cast<float>(protocol::to_double(event.at(name)[i]));
        if (protocol::is_event(event, "resources"))
            values["resources.memory.weights"][step] = event.at("memory").at("weights").get<float>();
        if (protocol::is_event(event, "evaluation"))
            values["validation.loss"][step] = static_cast<float>(protocol::number_at(event, "loss"));
        if (protocol::is_event(event, "superseded"))
            for (auto& [name, series] : values)
                series.erase(series.upper_bound(event.at("from_step").get<std::int64_t>()), series.end());
    };
    while (!cursor.read(1 << 20, take)) {
    }
    return values;
}

std::vector<float> column(const Json& overview, const std::string& name, const char* what) {
    const auto bytes =
        QByteArray::fromBase64(QByteArray::fromStdString(overview.at("series").at(name).at(what).get<std::string>()));
    std::vector<float> numbers(static_cast<std::size_t>(bytes.size()) / sizeof(float));
    std::memcpy(numbers.data(), bytes.constData(), static_cast<std::size_t>(bytes.size()));
    return numbers;
}

bool same(float a, float b) { return std::isnan(a) ? std::isnan(b) : std::abs(a - b) <= 1e-6F * std::abs(b); }

/// What differs between an overview and the values; empty if nothing does.
QString difference(const Json& overview, const Values& values, std::int64_t first, std::int64_t last) {
    const auto width = overview.at("width").get<std::int64_t>(), count = overview.at("buckets").get<std::int64_t>();
    if (overview.at("first") != Json(first) || overview.at("steps") != Json(last) || count > 1024 ||
        width != (last - first + 1024) / 1024 || count != (last - first) / width + 1)
        return QString::fromStdString("its form: " + overview.dump().substr(0, 200));
    for (const auto& [name, series] : values) {
        const bool any = series.lower_bound(first) != series.upper_bound(last);
        if (overview.at("series").contains(name) != any)
            return QString::fromStdString(name + (any ? " is missing" : " is too much"));
        if (!any)
            continue;
        const auto lows = column(overview, name, "low"), highs = column(overview, name, "high"),
                   means = column(overview, name, "mean");
        const bool counted = overview.at("series").at(name).contains("not_finite");
        const auto counts = counted ? column(overview, name, "not_finite") : std::vector<float>();
        bool any_not_finite = false;
        for (std::int64_t i = 0; i < count; ++i) {
            int not_finite = 0;
            float low = INFINITY, high = -INFINITY;
            double sum = 0;
            int finite = 0;
            for (auto step = first + i * width; step < std::min(first + (i + 1) * width, last + 1); ++step)
                if (const auto found = series.find(step); found == series.end()) {
                    continue;
                } else if (!std::isfinite(found->second)) {
                    ++not_finite;
                } else {
                    low = std::min(low, found->second);
                    high = std::max(high, found->second);
                    sum += static_cast<double>(found->second);
                    ++finite;
                }
            const auto at = static_cast<std::size_t>(i);
            any_not_finite = any_not_finite || not_finite > 0;
            if (static_cast<int>(counted ? counts.at(at) : 0) != not_finite)
                return QString::fromStdString(name + ": not finite in bucket " + std::to_string(i));
            const float mean = finite ? static_cast<float>(sum / finite) : NAN;
            if (!same(lows.at(at), finite ? low : NAN) || !same(highs.at(at), finite ? high : NAN) ||
                !same(means.at(at), mean))
                return QString::fromStdString(name + " of bucket " + std::to_string(i));
        }
        if (counted != any_not_finite)
            return QString::fromStdString(name + ": a count of nothing");
    }
    return {};
}

class Story {
public:
    explicit Story(const fs::path& run) : run_(run), log_(make(run)) {}

    /// Steps from `first` to `last`, with what comes beside them; `filler` bytes a line make the file long.
    void steps(std::int64_t first, std::int64_t last, std::size_t filler) {
        for (; first <= last; first += steps_a_line) {
            auto event = protocol::make_event("steps");
            event["step"] = first;
            event["epoch"] = 0;
            for (auto step = first; step < std::min(first + steps_a_line, last + 1); ++step) {
                const auto value = std::fmod(static_cast<double>(step) * 0.7312, 3) + 0.25;
                event["loss"].push_back(step % 97 == 0    ? Json("NaN")
                                        : step % 389 == 0 ? Json("Infinity")
                                                          : Json(value));
                event["seconds"].push_back(0.01 + 1e-6 * static_cast<double>(step));
            }
            log_.append(event);
            const auto at = std::min(first + steps_a_line - 1, last);
            auto resources = protocol::make_event("resources");
            resources["step"] = at;
            resources["memory"] = {{"weights", 1000 + at}};
            log_.append(resources);
            if (at % 500 == 0)
                evaluation(at, Json::object());
            auto warning = protocol::make_event("warning");
            warning["text"] = std::string(filler, 'Q');
            log_.append(warning);
        }
    }
    void evaluation(std::int64_t at, const Json& best) {
        auto event = protocol::make_event("evaluation");
        event["step"] = at;
        event["set"] = "validation";
        event["loss"] = 1.0 / static_cast<double>(at);
        event["accuracy"] = 0.5;
        event.update(best);
        log_.append(event);
    }
    void take_back(std::int64_t from_step) {
        auto back = protocol::make_event("superseded");
        back["from_step"] = from_step;
        log_.append(back);
    }

private:
    static const fs::path& make(const fs::path& run) {
        fs::create_directory(run);
        return run;
    }

    fs::path run_;
    EventLog log_;
};

Json stretch(const fs::path& run, std::int64_t first, std::int64_t last,
             RunPast::Comparing comparing = RunPast::Comparing::as_read, double smoothing = 0) {
    RunPast past(
        run, [](double) {}, {}, comparing);
    return overview_of(past, wanted, {}, StepRange{first, last}, smoothing);
}

/// What the losses are when all of them are smoothed, from the first on.
std::map<std::int64_t, double> smoothed(const Values& values, double weight) {
    std::map<std::int64_t, double> smooth;
    double mean = 0, rest = 1;
    for (const auto& [step, value] : values.at("loss")) {
        if (std::isfinite(value)) {
            mean = weight * mean + (1 - weight) * static_cast<double>(value);
            rest *= weight;
        }
        if (rest < 1)
            smooth[step] = mean / (1 - rest);
    }
    return smooth;
}

/// Spoils the first loss of a block's first table of steps.
void damage_block(const fs::path& run, std::size_t block) {
    ColumnFile file(run / column_file_name);
    const auto begin = file.end_of(block) + (block == 0 ? 16 : 0);
    std::fstream stream(run / column_file_name, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(static_cast<std::streamoff>(begin + 40 + 2000));
    stream.put('\x7f').put('\x7f').put('\x7f');
}

} // namespace

class TestOverview : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    fs::path short_, long_; ///< a few lines; some blocks of columns and a tail without
    Values told_;           ///< by the lines of both
    static constexpr std::int64_t last_ = 6180;

    [[nodiscard]] fs::path place(const char* name) const { return fs::path(folder_.path().toStdString()) / name; }
    /// Some thousand steps: a gap, steps that were taken back and taken anew, more of them than before.
    static void tell(const fs::path& run, std::size_t filler) {
        Story story(run);
        story.steps(1, 2400, filler);
        story.steps(2701, 4500, filler); // 300 are lost
        story.take_back(3940);
        story.steps(3941, last_, filler);
    }

private Q_SLOTS:
    void initTestCase() {
        short_ = place("short"), long_ = place("long");
        tell(short_, 10);
        tell(long_, 150'000);
        told_ = told_by(short_);
        QVERIFY(told_.at("loss").size() > 5000);
        RunPast none(short_, [](double) {}, {}), some(long_, [](double) {}, {});
        QCOMPARE(none.blocks(), std::size_t{0});
        QVERIFY(some.blocks() >= 4 && !some.tail({}).empty());
    }

    void a_stretch_is_what_its_lines_amount_to_data() {
        QTest::addColumn<std::int64_t>("first");
        QTest::addColumn<std::int64_t>("last");
        const auto add = [](const char* name, std::int64_t first, std::int64_t last) {
            QTest::newRow(name) << first << last;
        };
        add("all", 1, last_);
        add("single steps", 1001, 1100);
        add("as many as buckets", 1, 1024);
        add("one more", 1, 1025);
        add("a whole step of NaN", 97, 97);
        add("the first step", 1, 1);
        add("the last step", last_, last_);
        add("into the gap", 2390, 2500);
        add("out of the gap", 2600, 2720);
        add("inside of the gap", 2500, 2600);
        add("over what was taken back", 3000, 4400);
        add("behind it", 3941, 5000);
        add("odd width", 13, 5689);
        add("the end", 5900, last_);
    }
    void a_stretch_is_what_its_lines_amount_to() {
        QFETCH(std::int64_t, first);
        QFETCH(std::int64_t, last);
        for (const auto& run : {short_, long_})
            QCOMPARE(difference(stretch(run, first, last), told_, first, last), QString());
    }

    void the_whole_run_holds_its_newest_lines() {
        for (const auto& run : {short_, long_}) {
            RunPast past(run, [](double) {}, {});
            const auto overview = overview_of(past, wanted, {});
            QCOMPARE(difference(overview, told_, 1, last_), QString());
            QVERIFY(overview.contains("steps_per_epoch"));
        }
    }

    void a_stretch_is_smoothed_with_what_came_before_it_data() {
        QTest::addColumn<double>("weight");
        QTest::addColumn<std::int64_t>("first");
        QTest::addColumn<std::int64_t>("last");
        for (const double weight : {0.6, 0.9, 0.99, 0.999}) // of which the last reaches back to the first step
            for (const auto& [first, last] : {std::pair<std::int64_t, std::int64_t>{1, 300},
                                              {1, last_},
                                              {97, 97},
                                              {2390, 2750},
                                              {3900, 4000},
                                              {5000, 5400},
                                              {13, 5689},
                                              {last_, last_}})
                QTest::addRow("%g of %lld to %lld", weight, static_cast<long long>(first), static_cast<long long>(last))
                    << weight << first << last;
    }
    void a_stretch_is_smoothed_with_what_came_before_it() {
        QFETCH(double, weight);
        QFETCH(std::int64_t, first);
        QFETCH(std::int64_t, last);
        const auto expected = smoothed(told_, weight);
        for (const auto& run : {short_, long_}) {
            const auto overview = stretch(run, first, last, RunPast::Comparing::as_read, weight);
            QCOMPARE(difference(overview, told_, first, last), QString()); // the rest is as without
            QVERIFY(!overview.at("series").at("seconds").contains("smooth"));
            const auto width = overview.at("width").get<std::int64_t>();
            const auto means = column(overview, "loss", "smooth");
            for (std::size_t i = 0; i < means.size(); ++i) {
                const auto begin = first + static_cast<std::int64_t>(i) * width;
                double sum = 0;
                int count = 0;
                for (auto at = expected.lower_bound(begin);
                     at != expected.end() && at->first < std::min(begin + width, last + 1); ++at, ++count)
                    sum += at->second;
                QVERIFY2(count ? std::abs(static_cast<double>(means[i]) - sum / count) < 2e-6 : std::isnan(means[i]),
                         std::to_string(begin).c_str());
            }
        }
    }

    void without_a_weight_nothing_is_smoothed() {
        QVERIFY(!stretch(long_, 100, 200).at("series").at("loss").contains("smooth"));
    }

    void what_lies_behind_the_last_step_is_left_out() {
        QCOMPARE(difference(stretch(long_, 6000, 1'000'000'000), told_, 6000, last_), QString());
        try {
            (void)stretch(long_, last_ + 1, last_ + 2);
            QFAIL("there is no such step");
        } catch (const ConfigError& error) {
            QVERIFY2(std::string(error.what()).find("6180; this came: 6181") != std::string::npos, error.what());
        }
        const auto run = place("empty");
        fs::create_directory(run);
        EventLog(run).append(protocol::make_event("hello"));
        QVERIFY(stretch(run, 1, 2).is_null());
    }

    /// Whose columns are damaged is noticed only by who reads them: nobody else did.
    void no_more_is_read_than_the_stretch() {
        const auto run = place("damaged");
        fs::copy(long_, run);
        damage_block(run, 0);
        QCOMPARE(difference(stretch(run, 5000, 5400), told_, 5000, 5400), QString());
        (void)stretch(run, 5000, 5400, RunPast::Comparing::as_read, 0.9); // of 153 steps more
        QVERIFY_THROWS_EXCEPTION(DamagedColumns, (void)stretch(run, 1, 200));
        QCOMPARE(difference(stretch(run, 1, 200, RunPast::Comparing::at_once), told_, 1, 200), QString());
        QCOMPARE(difference(stretch(run, 1, 200), told_, 1, 200), QString()); // it is mended
    }

    void blocks_in_memory_do_as_well() {
        const auto run = place("read-only");
        fs::copy(long_, run);
        fs::remove(run / column_file_name);
        fs::create_directories(run / column_file_name / "in the way");
        QCOMPARE(difference(stretch(run, 1200, 1300), told_, 1200, 1300), QString());
    }

    void a_best_is_told_once_there_was_one() {
        const auto run = place("best");
        Story story(run);
        story.steps(1, 100, 10);
        story.evaluation(100, {{"best_accuracy", 0.0}, {"best_epoch", 0}}); // of NaN, as older runs have it
        story.evaluation(101, Json::object());
        const auto whole = [&] {
            RunPast past(run, [](double) {}, {});
            return overview_of(past, wanted, {});
        };
        QVERIFY(!whole().contains("best_accuracy") && !whole().contains("best_epoch"));
        story.evaluation(102, {{"best_accuracy", 0.5}, {"best_epoch", 3}});
        QCOMPARE(whole().at("best_accuracy"), Json(0.5));
        QCOMPARE(whole().at("best_epoch"), Json(3));
    }

    /// Nor is it in the list of runs: a run that goes on from an earlier checkpoint has that one's best again.
    void what_was_taken_back_is_no_best() {
        const auto run = place("taken back");
        Story story(run);
        story.steps(1, 50, 10);
        story.evaluation(50, {{"epoch", 1}, {"best_accuracy", 0.25}, {"best_epoch", 1}});
        story.steps(51, 100, 10);
        story.evaluation(100, {{"epoch", 2}, {"best_accuracy", 0.75}, {"best_epoch", 2}});
        QCOMPARE(summarize(RunFolder(run)).best_accuracy, std::optional(0.75));
        story.take_back(50);
        QCOMPARE(summarize(RunFolder(run)).best_accuracy, std::optional(0.25));
        story.steps(51, 100, 10);
        QCOMPARE(summarize(RunFolder(run)).best_accuracy, std::optional(0.25));
        story.evaluation(100, {{"epoch", 2}, {"best_accuracy", 0.5}, {"best_epoch", 2}});
        QCOMPARE(summarize(RunFolder(run)).best_accuracy, std::optional(0.5));
        story.take_back(0);
        QCOMPARE(summarize(RunFolder(run)).best_accuracy, std::nullopt);
    }

    void it_can_be_stopped() {
        std::stop_source stop;
        RunPast past(long_, [](double) {}, {});
        stop.request_stop();
        try {
            (void)overview_of(past, wanted, stop.get_token(), StepRange{1, 100});
            QFAIL("it went on");
        } catch (const Error& error) {
            QCOMPARE(error.code(), ExitCode::stopped);
        }
    }
};

QTEST_GUILESS_MAIN(TestOverview)
#include "tst_overview.moc"
