// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay.h"
#include "run_model.h"
#include "run_overview.h"
#include "sample_run.h"
#include "way_on.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace espalier;
using namespace espalier::test;

namespace {

/// As packed events have their columns.
template <class Numbers>
std::string base64_of(const Numbers& values) {
    const auto bytes = values.size() * sizeof(values.front());
    return QByteArray(reinterpret_cast<const char*>(values.data()), static_cast<qsizetype>(bytes))
        .toBase64()
        .toStdString();
}

void feed(RunModel& model, const Json& event) { model.apply(read_event(event)); }

void feed_all(RunModel& model, const std::vector<Json>& events) {
    for (const Json& event : events)
        feed(model, event);
}

} // namespace

class TestRunModel : public QObject {
    Q_OBJECT

private slots:
    void follows_a_run_from_start_to_end() {
        RunModel model(QStringLiteral("/runs/quick-1"));
        SampleRun run;
        QSignalSpy states(&model, &RunModel::state_changed);
        QCOMPARE(model.state(), RunState::preparing);
        feed_all(model, run.past(100));
        QCOMPARE(model.state(), RunState::running);
        QCOMPARE(model.step(), std::int64_t{100});
        QCOMPARE(model.last_step(), std::int64_t{756});
        QCOMPARE(model.loss.raw.size(), std::size_t{100});
        QCOMPARE(model.loss.smooth.size(), std::size_t{100});
        QCOMPARE(model.validation_accuracy.size(), std::size_t{1});
        QVERIFY(model.seconds_left().has_value());
        feed(model, run.phase("paused"));
        QCOMPARE(model.state(), RunState::paused);
        QVERIFY(!model.seconds_left());
        feed(model, run.phase("training"));
        feed_all(model, run.past(756));
        feed(model, run.phase("finished"));
        QCOMPARE(model.state(), RunState::finished);
        QVERIFY(model.best_accuracy().value_or(0) > 0.8);
        QCOMPARE(states.count(), 4); // running, paused, running, finished
    }

    /// A run keeps the times of its layers in a file of their own.
    void a_replay_has_the_times_of_the_layers() {
        const QTemporaryDir folder;
        QFile events(folder.filePath(QStringLiteral("events.jsonl"))),
            layers(folder.filePath(QStringLiteral("layers.jsonl")));
        QVERIFY(events.open(QIODevice::WriteOnly) && layers.open(QIODevice::WriteOnly));
        for (const Json& event : SampleRun().past(300))
            for (const std::string& line : protocol::to_lines(event))
                (protocol::is_event(event, "layers") ? layers : events)
                    .write(line.data(), static_cast<qint64>(line.size()));
        events.close();
        layers.close();
        const auto play = [&] {
            RunModel model(folder.path());
            for (const RunEvent& event : Replay(folder.path(), 0).take())
                model.apply(event);
            return std::tuple(model.step(), model.profiled_step(), std::isfinite(model.plan()->layers[1].milliseconds));
        };
        QCOMPARE(play(), std::tuple(std::int64_t{300}, std::int64_t{252}, true)); // at the end of the fourth epoch
        QVERIFY(layers.remove());
        QCOMPARE(play(), std::tuple(std::int64_t{300}, std::int64_t{0}, false));
    }

    void the_end_is_told_once() {
        RunModel model(QStringLiteral("r"));
        SampleRun run;
        feed_all(model, run.past(30));
        feed(model, run.phase("failed", "out of luck"));
        QSignalSpy states(&model, &RunModel::state_changed);
        feed(model, run.phase("finished"));
        feed(model, run.event("bye", {{"code", 0}, {"reason", ""}}));
        model.close();
        QCOMPARE(model.state(), RunState::failed);
        QCOMPARE(model.reason(), QStringLiteral("out of luck"));
        QCOMPARE(states.count(), 0);
        feed(model, run.hello(2)); // a resume opens it again
        QCOMPARE(model.state(), RunState::preparing);
        feed(model, run.phase("training"));
        feed(model, run.steps(5));
        QCOMPARE(model.state(), RunState::running);
    }

    /// Supervisor and worker both tell of it.
    void each_preparation_is_in_the_log_once() {
        RunModel model(QStringLiteral("r"));
        SampleRun run;
        const auto told = [&] {
            return std::ranges::count(model.log(), QStringLiteral("Preparing"), &LogLine::text);
        };
        feed(model, run.hello());
        feed(model, run.phase("preparing"));
        feed(model, run.phase("preparing", "The run stops."));
        QCOMPARE(told(), 1);
        feed_all(model, run.past(20));
        for (int start = 2; start < 5; ++start) {
            const auto before = told();
            feed(model, run.phase("preparing"));
            feed(model, run.hello(start));
            feed(model, run.phase("preparing"));
            QCOMPARE(told(), before + 1);
            if (start == 3) // at an end, too
                feed(model, run.phase("failed", "out of luck"));
            else
                feed(model, run.phase("training"));
        }
    }

    void bye_without_a_phase_ends_by_its_code() {
        for (const auto& [code, state] :
             {std::pair{0, RunState::finished}, {6, RunState::stopped}, {5, RunState::failed}}) {
            RunModel model(QStringLiteral("r"));
            SampleRun run;
            feed_all(model, run.past(10));
            feed(model, run.event("bye", {{"code", code}, {"reason", ""}}));
            QCOMPARE(model.state(), state);
        }
    }

    /// What the first button of an end does.
    void every_end_offers_a_way_on_data() {
        QTest::addColumn<QString>("phase");
        QTest::addColumn<bool>("saved");
        QTest::addColumn<QString>("title");
        QTest::addColumn<QString>("action");
        const QString resume = QStringLiteral("Resume"), again = QStringLiteral("Start again");
        for (const char* phase : {"failed", "stopped", "interrupted"})
            QTest::addRow("%s, saved", phase) << QString::fromLatin1(phase) << true << resume << "resume";
        QTest::newRow("failed") << QStringLiteral("failed") << false << QStringLiteral("Change settings…") << "like";
        for (const char* phase : {"stopped", "interrupted"})
            QTest::addRow("%s", phase) << QString::fromLatin1(phase) << false << again << "resume";
        QTest::newRow("queued") << QStringLiteral("queued") << false << QStringLiteral("Begin now") << "resume";
    }
    void every_end_offers_a_way_on() {
        QFETCH(QString, phase);
        QFETCH(bool, saved);
        RunModel model(QStringLiteral("r"));
        SampleRun run;
        feed_all(model, run.past(30));
        if (saved)
            feed(model, run.checkpoint());
        if (phase == u"interrupted")
            model.close();
        else
            feed(model, run.phase(phase.toLatin1().constData()));
        QTEST(way_on(model).title, "title");
        QTEST(way_on(model).action, "action");
    }

    void no_more_events_is_an_interruption() {
        RunModel model(QStringLiteral("r"));
        SampleRun run;
        feed_all(model, run.past(10));
        model.close();
        QCOMPARE(model.state(), RunState::interrupted);
        QVERIFY(!model.reason().isEmpty());
    }

    void steps_taken_back_leave_a_continuous_curve() {
        RunModel model(QStringLiteral("r"));
        SampleRun run;
        feed_all(model, run.past(200));
        const double before = model.clock.seconds();
        feed(model, run.hello(2));
        feed(model, run.event("superseded", {{"from_step", 126}}));
        QCOMPARE(model.loss.raw.last_step(), std::int64_t{126});
        QCOMPARE(model.step(), std::int64_t{126});
        QVERIFY(model.clock.seconds() < before);
        SampleRun again;
        (void)again.past(126);
        feed_all(model, again.past(200));
        QCOMPARE(model.loss.raw.size(), std::size_t{200});
        QCOMPARE(model.loss.smooth.size(), std::size_t{200});
        QVERIFY(std::abs(model.clock.seconds() - before) < 0.5);
    }

    /// What came after the step that a run went back to is its past no more: neither the best result nor a checkpoint.
    void results_taken_back_count_no_more() {
        RunModel model(QStringLiteral("r"));
        SampleRun run;
        feed_all(model, run.past(126));
        const auto best = model.best_accuracy(), loss = model.best_loss();
        const auto epoch = model.best_epoch();
        const auto checkpoint = model.checkpoint()->step;
        QVERIFY(best && loss && epoch > 0);
        SampleRun further;
        const auto past = further.past(400);
        feed_all(model, {past.begin() + static_cast<std::ptrdiff_t>(run.past(0).size()), past.end()});
        QVERIFY(*model.best_accuracy() > *best);
        feed(model, run.phase("stopped"));
        feed(model, run.hello(2));
        feed(model, run.event("superseded", {{"from_step", 126}}));
        QCOMPARE(model.best_accuracy(), best);
        QCOMPARE(model.best_loss(), loss);
        QCOMPARE(model.best_epoch(), epoch);
        QCOMPARE(model.checkpoint()->step, checkpoint);
        QCOMPARE(model.markers().back().position, 126.0);
        QVERIFY2(model.markers().back().story.contains(QStringLiteral("400")), qPrintable(model.markers().back().story));
        QVERIFY(model.log().back().text == model.markers().back().story);
        feed(model, run.event("superseded", {{"from_step", 0}}));
        QVERIFY(!model.best_accuracy() && !model.checkpoint());
    }

    void a_change_that_was_taken_back_is_said_no_more_data() {
        QTest::addColumn<QString>("rung");
        QTest::addColumn<QString>("to");
        QTest::addColumn<bool>("taken_back"); // by the settings that the resumed run's plan tells
        QTest::newRow("recompute, taken back") << "recompute" << "on" << true;
        QTest::newRow("recompute, kept") << "recompute" << "off" << false; // as the sample's plan has it
        QTest::newRow("precision, taken back") << "precision" << "bf16" << true;
        QTest::newRow("precision, kept") << "precision" << "fp32" << false;
        QTest::newRow("batch, taken back") << "batch" << "16, 4 of them an update" << true;
        QTest::newRow("batch, kept") << "batch" << "64, 2 of them an update" << false;
        QTest::newRow("device, taken back") << "cpu" << "reference" << true;
        QTest::newRow("device, kept") << "cpu" << "cpu" << false;
    }
    void a_change_that_was_taken_back_is_said_no_more() {
        QFETCH(QString, rung);
        QFETCH(QString, to);
        QFETCH(bool, taken_back);
        RunModel model(QStringLiteral("r"));
        SampleRun run;
        feed_all(model, run.past(100));
        const Json change = run.fallback(rung.toUtf8(), "as asked", to.toUtf8(), "It had to be.", {{"batch", 128}});
        feed(model, change);
        feed(model, change); // another worker says so again
        QCOMPARE(model.changes().size(), std::size_t{1});
        feed(model, run.hello(2)); // the supervisor has restarted it: the change stays
        feed(model, run.plan());
        QCOMPARE(model.changes().size(), std::size_t{1});
        feed(model, run.phase("stopped"));
        feed(model, run.hello(3)); // a person has resumed it
        feed(model, run.plan());
        QCOMPARE(model.changes().size(), std::size_t{taken_back ? 0U : 1U});
        QCOMPARE(model.fallbacks().size(), taken_back ? 0 : 1);
        const auto offers = std::ranges::count_if(model.markers(), [](const auto& m) { return !m.action.isEmpty(); });
        QCOMPARE(offers > 0, !taken_back);
    }

    /// A kernel that stands in for another one is told of by each worker that needs it.
    void a_change_of_an_earlier_worker_alone_is_said_no_more() {
        RunModel model(QStringLiteral("r"));
        SampleRun run;
        feed_all(model, run.past(100));
        feed(model, run.fallback("kernel", "conv2d", "reference", "It refuses.", Json::object()));
        QCOMPARE(model.fallbacks().size(), 1);
        feed(model, run.hello(2));
        QVERIFY(model.fallbacks().isEmpty());
    }

    void values_that_are_not_numbers_stay() {
        RunModel model(QStringLiteral("r"));
        SampleRun run;
        feed_all(model, run.past(5));
        feed(model, run.event("steps", {{"step", 6},
                                        {"loss", {"NaN", 0.5, "Infinity"}},
                                        {"accuracy", {0.1, 0.2, 0.3}},
                                        {"seconds", {0.1, 0.1, 0.1}},
                                        {"epoch", 0.1}}));
        QVERIFY(model.loss.raw.has_non_finite());
        QCOMPARE(model.loss.raw.size(), std::size_t{8});
        QVERIFY(std::isfinite(model.loss.smooth.value_at(7)));
    }

    void smoothing_is_the_same_however_values_come() {
        SmoothedSeries whole, pieces;
        std::vector<float> values;
        for (int i = 0; i < 500; ++i)
            values.push_back(static_cast<float>((i * 7919) % 101));
        whole.append(1, values);
        for (std::size_t i = 0; i < values.size(); i += 7)
            pieces.append(static_cast<std::int64_t>(i) + 1,
                          {values.begin() + static_cast<std::ptrdiff_t>(i),
                           values.begin() + static_cast<std::ptrdiff_t>(std::min(i + 7, values.size()))});
        for (std::size_t i = 0; i < values.size(); ++i)
            QCOMPARE(pieces.smooth.value_at(i), whole.smooth.value_at(i));
        QCOMPARE(whole.smooth.value_at(0), values[0]); // corrected for its start
        pieces.set_weight(0.6);
        whole.set_weight(0.6);
        QVERIFY(!pieces.is_level()); // a long series is smoothed in slices
        for (int i = 0; i < 3; ++i)
            pieces.extend(100);
        pieces.append(501, {3, 4}); // while it lags behind
        pieces.extend(1000);
        whole.extend(1000);
        whole.append(501, {3, 4});
        QVERIFY(pieces.is_level() && whole.is_level());
        QCOMPARE(pieces.smooth.value_at(501), whole.smooth.value_at(501));
        QCOMPARE(pieces.smooth.value_at(499), whole.smooth.value_at(499));
    }

    /// A past in joined, packed events gives the same curves as its lines.
    void packed_events_are_the_same_run() {
        RunModel by_lines(QStringLiteral("r")), packed(QStringLiteral("r"));
        SampleRun run;
        std::vector<float> loss, accuracy, seconds;
        std::vector<double> at, weights, gflops;
        const auto flush = [&] {
            const auto first = static_cast<std::int64_t>(packed.loss.raw.size()) + 1;
            if (!loss.empty())
                feed(packed, {{"type", "steps"},
                              {"time", 1.0},
                              {"packed", loss.size()},
                              {"step", first},
                              {"epoch", static_cast<double>(first - 1) / 63},
                              {"loss", base64_of(loss)},
                              {"accuracy", base64_of(accuracy)},
                              {"seconds", base64_of(seconds)}});
            if (!at.empty())
                feed(packed, {{"type", "resources"},
                              {"time", 1.0},
                              {"packed", at.size()},
                              {"step", base64_of(at)},
                              {"memory.weights", base64_of(weights)},
                              {"gflops", base64_of(gflops)}});
            loss.clear(), accuracy.clear(), seconds.clear(), at.clear(), weights.clear(), gflops.clear();
        };
        for (Json event : run.past(400)) {
            if (protocol::is_event(event, "resources")) {
                at.push_back(event["step"].get<double>());
                weights.push_back(event["memory"]["weights"].get<double>());
                gflops.push_back(event["gflops"].get<double>());
                event["memory"] = {{"weights", weights.back()}};
            } else if (protocol::is_event(event, "steps")) {
                for (std::size_t i = 0; i < event["loss"].size(); ++i) {
                    loss.push_back(event["loss"][i].get<float>());
                    accuracy.push_back(event["accuracy"][i].get<float>());
                    seconds.push_back(event["seconds"][i].get<float>());
                }
            } else {
                flush();
                feed(packed, event);
            }
            feed(by_lines, event);
        }
        flush();
        const auto same = [](const MetricSeries& a, const MetricSeries& b) {
            if (a.empty() || a.size() != b.size())
                return false;
            for (std::size_t i = 0; i < a.size(); ++i)
                if (a.step_at(i) != b.step_at(i) || a.value_at(i) != b.value_at(i))
                    return false;
            return true;
        };
        QVERIFY(same(packed.loss.raw, by_lines.loss.raw) && same(packed.loss.smooth, by_lines.loss.smooth));
        QVERIFY(same(packed.accuracy.raw, by_lines.accuracy.raw));
        QVERIFY(same(packed.validation_loss, by_lines.validation_loss));
        QVERIFY(same(packed.memory[0], by_lines.memory[0]) && same(packed.gflops, by_lines.gflops));
        QCOMPARE(packed.step(), by_lines.step());
        QCOMPARE(packed.state(), by_lines.state());
        QVERIFY(std::abs(packed.clock.seconds() - by_lines.clock.seconds()) < 1e-6);
    }

    void an_overview_becomes_curves() {
        using Floats = std::vector<float>;
        const Json series{{"low", base64_of(Floats{1, 2, NAN})},
                          {"high", base64_of(Floats{3, 2, NAN})},
                          {"mean", base64_of(Floats{2, 2, NAN})},
                          {"not_finite", base64_of(Floats{0, 3, 5})}};
        Json overview{{"steps", 25},   {"width", 10},
                      {"buckets", 3},  {"steps_per_epoch", 5.0},
                      {"epochs", 8.0}, {"series", {{"loss", series}, {"resources.memory.weights", series}}}};
        const auto read = read_overview(overview);
        QVERIFY(read.has_value());
        QCOMPARE(read->last_step, std::int64_t{40});
        QCOMPARE(read->loss.size(), std::size_t{3}); // both ends of the first bucket, one value of the second
        QCOMPARE(read->loss.extent().low, 1.0);
        QCOMPARE(read->loss.extent().high, 3.0);
        QCOMPARE(read->loss.last_step(), std::int64_t{16});
        std::vector<Sample> marks;
        read->loss_not_finite.non_finite(0, 100, 100, marks);
        QCOMPARE(marks.size(), std::size_t{2});
        QCOMPARE(marks[0].step, 16.0);
        QVERIFY(read->accuracy_not_finite.empty()); // an older engine does not count them
        QVERIFY(refined(*read, *read).loss_not_finite.has_non_finite());
        QCOMPARE(read->memory[3].size(), std::size_t{2});
        QVERIFY(read->gflops.empty());
        for (const char* key : {"steps", "width", "buckets", "series"}) {
            Json broken = overview;
            broken[key] = "x";
            QVERIFY2(!read_overview(broken), key);
            broken.erase(key);
            QVERIFY2(!read_overview(broken), key);
        }
        overview["buckets"] = 1000000;
        QVERIFY(!read_overview(overview));
    }

    void damaged_columns_do_no_harm() {
        RunModel model(QStringLiteral("r"));
        feed(model, {{"type", "steps"}, {"packed", 3}, {"step", 1}, {"loss", "!"}, {"accuracy", "AAA="}});
        feed(model, {{"type", "resources"}, {"packed", 3}, {"step", "AAAAAAAAAAA="}, {"gflops", ""}});
        feed(model, {{"type", "resources"}, {"packed", 3}, {"gflops", "AAAAAAAAAAA="}});
        QVERIFY(model.loss.raw.empty());
        QVERIFY(model.gflops.empty());
    }

    void fallbacks_can_be_taken_back_until_the_run_is_resumed() {
        RunModel model(QStringLiteral("r"));
        const auto fallback = [&](const char* rung, const char* to, const Json& undo) {
            feed(model, {{"type", "fallback"}, {"rung", rung}, {"to", to}, {"reason", "why"}, {"undo", undo}});
        };
        fallback("batch", "32, 2 of them an update", {{"batch", 64}, {"accumulation", 1}});
        fallback("batch", "16, 4 of them an update", {{"batch", 32}, {"accumulation", 2}}); // halved once more
        fallback("safe_mode", "on", {{"toggles", {{"safe_mode", false}}}});
        feed(model, {{"type", "fallback"}, {"rung", "kernel"}, {"reason", "why"}}); // nothing takes it back
        QCOMPARE(model.undo().at("batch"), Json(64));
        QCOMPARE(model.undo().at("accumulation"), Json(1));
        QCOMPARE(model.undo().at("toggles").at("safe_mode"), Json(false));
        feed(model, {{"type", "hello"}, {"run", 2}}); // a worker after the fault
        QVERIFY(!model.undo().empty());
        feed(model, {{"type", "phase"}, {"phase", "stopped"}});
        feed(model, {{"type", "hello"}, {"run", 3}});
        QVERIFY(model.undo().empty());
        QCOMPARE(model.fallbacks().size(), 3); // the kernel is told of anew, if it is still so
    }

    /// Eight hours of sleep are not part of the pace that tells how long the run will take.
    void time_asleep_or_a_clock_that_was_set_is_no_part_of_the_pace_data() {
        QTest::addColumn<int>("hours");
        QTest::newRow("asleep") << 8;
        QTest::newRow("set back") << -8;
    }
    void time_asleep_or_a_clock_that_was_set_is_no_part_of_the_pace() {
        QFETCH(int, hours);
        RunModel model(QStringLiteral("r"));
        SampleRun run;
        feed_all(model, run.past(100));
        const double awake = model.seconds_left().value_or(0);
        QVERIFY(awake > 0);
        for (Json event : run.past(200)) {
            event["time"] = event.at("time").get<double>() + hours * 3600;
            feed(model, event);
        }
        QVERIFY(model.seconds_left().has_value());
        QVERIFY2(*model.seconds_left() < 2 * awake, qPrintable(QString::number(*model.seconds_left())));
    }

    void a_best_is_shown_once_there_was_one() {
        SampleRun run;
        for (const Json& none : {Json::object(), Json{{"best_accuracy", 0.0}, {"best_epoch", 0}}}) {
            RunModel model(QStringLiteral("r"));
            const auto evaluate = [&](double epoch, const Json& best) {
                Json event = run.event("evaluation", {{"set", "validation"}, {"loss", "NaN"}, {"accuracy", 0.1}});
                event["epoch"] = epoch;
                event.update(best);
                feed(model, event);
            };
            feed_all(model, run.past(30));
            evaluate(1, none);
            QVERIFY2(!model.best_accuracy(), none.dump().c_str());
            feed(model, run.phase("finished"));
            QVERIFY2(!model.detail().contains(QLatin1Char('%')), qPrintable(model.detail()));
            evaluate(2, {{"best_accuracy", 0.25}, {"best_epoch", 2}});
            QCOMPARE(model.best_accuracy(), std::optional(0.25));
            QCOMPARE(model.best_epoch(), std::int64_t{2});
        }
    }

    void events_without_their_fields_do_no_harm() {
        RunModel model(QStringLiteral("r"));
        for (const char* type :
             {"hello", "plan", "phase", "steps", "epoch", "evaluation", "checkpoint", "resources", "layers", "fallback",
              "warning", "error", "heartbeat", "superseded", "new_in_a_later_version", "bye"})
            model.apply(read_event(Json{{"type", type}}));
        model.apply(read_event(Json{{"type", "plan"}, {"layers", 3}, {"memory", "much"}, {"passes", {1, "a"}}}));
        model.apply(read_event(Json{{"type", "steps"}, {"loss", {"x", Json::object()}}, {"step", "one"}}));
        model.apply(read_event(Json::array()));
    }
};

QTEST_GUILESS_MAIN(TestRunModel)
#include "tst_run_model.moc"
