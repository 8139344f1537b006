// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says in words: of its devices, of a run in the title, at the bottom and to a person who is not
// looking.
#include "checkpoint_words.h"
#include "device_summary.h"
#include "notifications.h"
#include "sample_run.h"
#include "status_facts.h"

#include <QTest>

using namespace espalier;
using namespace espalier::test;

namespace {

void feed(RunModel& model, const Json& event) { model.apply(read_event(event)); }

void feed_past(RunModel& model, SampleRun& run, std::int64_t until) {
    for (const Json& event : run.past(until))
        feed(model, event);
}

QString strip(const RunModel& model, bool live, double now) {
    QStringList words;
    for (const StatusStrip::Fact& fact : status_facts(model, live, now))
        words.append(fact.before + fact.strong + fact.faint);
    return words.join(QStringLiteral(" | "));
}

Json device(const char* backend, const char* name, bool usable, const char* reason = "") {
    return {{"backend", backend}, {"name", name}, {"usable", usable}, {"reason", reason}, {"memory_bytes", 8e9}};
}

} // namespace

class TestWords : public QObject {
    Q_OBJECT

private slots:
    void the_gpu_is_named_if_it_can_train() {
        const Json cpu = device("cpu", "AMD EPYC 7B13 64-Core Processor", true);
        const Json oracle = device("reference", "double precision", true);
        const Json gpu = device("cuda", "NVIDIA GeForce RTX 4060", true);
        for (const Json& devices : {Json{oracle, cpu, gpu}, Json{gpu, cpu, oracle}}) {
            const DeviceSummary summary = summarize_devices({{"devices", devices}});
            QCOMPARE(summary.device, QStringLiteral("NVIDIA GeForce RTX 4060"));
            QCOMPARE(summary.line, QStringLiteral("RTX 4060 ready · 7.5 GB of memory"));
            QVERIFY(summary.reason.isEmpty());
        }
    }

    void of_several_cards_the_first_that_can_train_is_named() {
        const Json old = device("cuda", "Tesla V100", false, "too old");
        const Json first = device("cuda", "NVIDIA H100", true), second = device("cuda", "NVIDIA L4", true);
        for (const Json& devices : {Json{old, first, second}, Json{first, second, old}}) {
            const DeviceSummary summary = summarize_devices({{"devices", devices}});
            QCOMPARE(summary.device, QStringLiteral("NVIDIA H100"));
            QVERIFY(summary.reason.isEmpty());
        }
    }

    void why_it_is_not_the_gpu_is_said() {
        const Json gpu = device("cuda", "NVIDIA GPU", false, "driver 560 found, 580 needed");
        const DeviceSummary summary = summarize_devices({{"devices", Json{gpu, device("cpu", "EPYC", true)}}});
        QCOMPARE(summary.device, QStringLiteral("EPYC"));
        QCOMPARE(summary.reason, QStringLiteral("driver 560 found, 580 needed"));
        const DeviceSummary none = summarize_devices({{"devices", Json{gpu, 7}}});
        QVERIFY(none.device.isEmpty());
        QVERIFY(none.line.contains(QStringLiteral("580 needed")));
        QVERIFY(summarize_devices(Json::object()).device.isEmpty());
    }

    void a_device_without_a_name_is_told_once() {
        QCOMPARE(device_words(QStringLiteral("H100"), QStringLiteral("cuda")), QStringLiteral("H100 (cuda)"));
        QCOMPARE(device_words(QStringLiteral("cpu"), QStringLiteral("cpu")), QStringLiteral("processor"));
        QCOMPARE(device_words({}, QStringLiteral("reference")), QStringLiteral("reference"));
        RunModel model(QStringLiteral("/runs/quick-1"));
        SampleRun run;
        Json plan = run.plan();
        plan["device"] = "cpu";
        feed(model, plan);
        QVERIFY2(strip(model, false, 0).contains(QStringLiteral("fp32 · fused · processor")),
                 qPrintable(strip(model, false, 0)));
    }

    void the_title_shows_how_far_it_is() {
        QCOMPARE(Notifications::title(nullptr), QStringLiteral("Espalier"));
        RunModel model(QStringLiteral("/runs/quick-1"));
        SampleRun run;
        QCOMPARE(Notifications::title(&model), QStringLiteral("quick-1 · Espalier"));
        feed_past(model, run, run.last_step() / 2);
        QCOMPARE(Notifications::title(&model), QStringLiteral("50 % · quick-1 · Espalier"));
        const RunProgress other{QStringLiteral("grow-2"), 0.299};
        const QString of_other = QStringLiteral("29 % · grow-2 · Espalier");
        QCOMPARE(Notifications::title(&model, other), QStringLiteral("50 % · quick-1 · Espalier"));
        QCOMPARE(Notifications::title(nullptr, other), of_other);
        RunModel ended(QStringLiteral("/runs/quick-0"));
        feed(ended, run.phase("queued"));
        QCOMPARE(Notifications::title(&ended, other), of_other);
        ended.close();
        QCOMPARE(Notifications::title(&ended, other), of_other);
        feed(model, run.phase("paused"));
        QCOMPARE(Notifications::title(&model), QStringLiteral("quick-1 · Espalier"));
    }

    void an_end_is_news_unless_it_was_asked_for() {
        const auto news = [](RunState state, std::optional<double> best = {}, const QString& reason = {}) {
            return Notifications::news({QStringLiteral("quick-1"), state, best, reason});
        };
        QCOMPARE(news(RunState::finished, 0.867),
                 QStringLiteral("quick-1 has finished: 86.7 % of the validation images are told right."));
        QCOMPARE(news(RunState::finished), QStringLiteral("quick-1 has finished."));
        QCOMPARE(news(RunState::failed, 0.5, QStringLiteral("Out of luck.")),
                 QStringLiteral("quick-1 has failed: Out of luck."));
        QCOMPARE(news(RunState::interrupted), QStringLiteral("quick-1 has ended before its time."));
        for (const RunState state : {RunState::stopped, RunState::running, RunState::paused, RunState::queued})
            QVERIFY(news(state).isEmpty());
    }

    void the_last_checkpoint_is_told_by_its_epoch_and_age() {
        RunModel model(QStringLiteral("/runs/quick-1"));
        SampleRun run;
        feed_past(model, run, 40);
        QCOMPARE(checkpoint_words(model, 0), QStringLiteral("No checkpoint has been written yet."));
        feed(model, run.checkpoint());
        const double then = model.checkpoint()->time;
        QCOMPARE(checkpoint_words(model, then + 180),
                 QStringLiteral("The last checkpoint is of epoch 1 (step 40), 3 min ago."));
        QCOMPARE(checkpoint_words(model, then - 5), // clocks of two machines may differ
                 QStringLiteral("The last checkpoint is of epoch 1 (step 40), 1 s ago."));
        QCOMPARE(checkpoint_words(model, then + 90000),
                 QStringLiteral("The last checkpoint is of epoch 1 (step 40), written on %1.")
                     .arg(QDateTime::fromSecsSinceEpoch(qint64(then)).toString(QStringLiteral("yyyy-MM-dd HH:mm"))));
    }

    void the_strip_ages_the_checkpoint_of_a_live_run() {
        RunModel model(QStringLiteral("/runs/quick-1"));
        SampleRun run;
        feed_past(model, run, 40);
        QVERIFY(strip(model, true, 0).contains(QStringLiteral("no checkpoint yet")));
        feed(model, run.checkpoint());
        const double then = model.checkpoint()->time;
        QVERIFY(strip(model, true, then + 40).contains(QStringLiteral("last checkpoint 40 s ago")));
        QVERIFY(strip(model, true, then - 5).contains(QStringLiteral("ago"))); // clocks of two machines may differ
        QVERIFY(strip(model, false, then + 40).contains(QStringLiteral("last checkpoint step 40")));
        QVERIFY(strip(model, true, then).contains(QStringLiteral("no warnings")));
        feed(model, run.event("warning", {{"text", "careful"}, {"code", 1}}));
        QVERIFY(strip(model, true, then).contains(QStringLiteral("1 warning")));
    }
};

QTEST_MAIN(TestWords)
#include "tst_words.moc"
