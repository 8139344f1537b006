// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"
#include "plan/recording_backend.h"
#include "train_support.h"

#include <QtTest>

using namespace espalier;
using namespace espalier::test;
using espalier::testing::RecordingBackend;

namespace {

RecordingBackend::Fault fault_to_inject = RecordingBackend::Fault::none;

/// What "auto" means in this program: the processor, but recorded.
BackendDefinition recording_definition() {
    return {.name = "recording",
            .description = "records the processor's steps",
            .preference = 1000,
            .make =
                [](const BackendOptions& options) {
                    return std::make_unique<RecordingBackend>(make_backend("cpu", options), fault_to_inject);
                },
            .available = {}};
}

/// Everything that a run tells of its training and evaluation.
std::vector<Json> told(const EventLog& log) {
    std::vector<Json> values;
    for (const char* column : {"loss", "accuracy", "learning_rate"})
        values.emplace_back(log.column(column));
    for (const auto& event : log.of_type("evaluation"))
        values.push_back({event["loss"], event["accuracy"]});
    return values;
}

} // namespace

/// Whole runs whose steps are replayed: schedule, changes of plan (evaluations, last batches of another size),
/// accumulation, pauses.
class TestRecordedRun : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        register_all_backends();
        BackendRegistry::instance().add(recording_definition());
    }
    void init() { fault_to_inject = RecordingBackend::Fault::none; }

    void a_replayed_run_is_the_run_kernel_by_kernel_data() {
        QTest::addColumn<QString>("backend");
        QTest::addColumn<QStringList>("settings");
        const std::pair<const char*, QStringList> cases[] = {
            {"warm-up and cosine, odd last batches", {}},
            {"data on the device", {"data_on_device=on"}},
            {"data sent by the host", {"data_on_device=off"}},
            {"accumulation", {"accumulation=3", "batch=4", "optimizer.kind=adamw", "optimizer.learning_rate=0.01"}},
            {"clipped, steps of the rate",
             {"optimizer.clip_norm=0.5", "schedule.kind=step", "schedule.step_epochs=[1,2]"}},
        };
        for (const auto& status : available_backends())
            if (status.available && (status.name == "recording" || !status.devices.empty()))
                for (const auto& [name, settings] : cases)
                    QTest::newRow((status.name + ": " + name).c_str())
                        << QString::fromStdString(status.name == "recording" ? "auto" : status.name) << settings;
    }
    void a_replayed_run_is_the_run_kernel_by_kernel() {
        QFETCH(QString, backend);
        QFETCH(QStringList, settings);
        std::vector<std::string> list{"backend=" + backend.toStdString(), "toggles.deterministic=true"};
        for (const auto& setting : settings)
            list.push_back(setting.toStdString());
        SmallRun replayed(list), launched(list);
        launched.set("toggles.cuda_graphs=false");
        EventLog replayed_log, launched_log;
        QCOMPARE(replayed.train(replayed_log).phase, std::string("finished"));
        QCOMPARE(launched.train(launched_log).phase, std::string("finished"));
        QCOMPARE(QString::fromStdString(difference(replayed.last(), launched.last())), QString());
        QCOMPARE(told(replayed_log), told(launched_log));
        for (const auto& event : replayed_log.of_type("fallback"))
            QFAIL(event.dump().c_str());
    }

    void a_pause_between_replays_changes_nothing() {
        SmallRun whole({"backend=auto"}), paused({"backend=auto"});
        EventLog whole_log, paused_log;
        QCOMPARE(whole.train(whole_log).phase, std::string("finished"));
        QCOMPARE(paused.train(paused_log, CommandAt(9, Command::pause)).phase, std::string("finished"));
        QCOMPARE(QString::fromStdString(difference(whole.last(), paused.last())), QString());
    }

    void a_wrong_recording_is_told_and_left_data() {
        QTest::addColumn<int>("fault");
        QTest::newRow("wrong values") << static_cast<int>(RecordingBackend::Fault::leaves_out_the_last);
        QTest::newRow("cannot be recorded") << static_cast<int>(RecordingBackend::Fault::cannot_record);
        QTest::newRow("fails") << static_cast<int>(RecordingBackend::Fault::fails_when_replayed);
    }
    void a_wrong_recording_is_told_and_left() {
        QFETCH(int, fault);
        SmallRun expected({"backend=cpu"}), run({"backend=auto"});
        EventLog expected_log, log;
        QCOMPARE(expected.train(expected_log).phase, std::string("finished"));
        fault_to_inject = static_cast<RecordingBackend::Fault>(fault);
        QCOMPARE(run.train(log).phase, std::string("finished"));
        QCOMPARE(QString::fromStdString(difference(run.last(), expected.last())), QString());
        QCOMPARE(told(log), told(expected_log));
        const auto fallbacks = log.of_type("fallback");
        QCOMPARE(fallbacks.size(), std::size_t{1});
        QCOMPARE(fallbacks[0]["rung"], Json("cuda_graphs"));
        QVERIFY(!fallbacks[0]["reason"].get<std::string>().empty());
        const auto passport = read_json(run.folder().passport());
        QCOMPARE(passport["fallbacks"].size(), std::size_t{1});
        QCOMPARE(passport["fallbacks"][0]["reason"], fallbacks[0]["reason"]);
    }
};

QTEST_GUILESS_MAIN(TestRecordedRun)
#include "tst_recorded_run.moc"
