// SPDX-License-Identifier: Apache-2.0
#include "faults/faulty_run.h"
#include "train/train_support.h"

#include <QtTest>
#include <csignal>
#include <random>

using namespace espalier;
using namespace espalier::test;
using namespace std::chrono_literals;

/// A run whose worker is killed again and again, at any moment of its life, ends with the bits of one that was left
/// alone.
class TestDeaths : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void two_hundred_deaths_change_nothing() {
        constexpr int deaths_wanted = 200;
        const std::vector<std::string> settings{"data=synthetic:1x8x8,3,530", "epochs=150",
                                                "checkpoint.every_steps=25"};
        FaultyRun alone(settings);
        QVERIFY2(alone.run() == 0, alone.story().c_str());

        FaultyRun killed(settings);
        auto& restarts = killed.settings().restarts;
        restarts.longest_delay = 1ms;
        restarts.deaths_without_progress = deaths_wanted; // a worker may die many times before its first step
        std::mt19937 random(20260101);
        std::uniform_int_distribution<int> moment(0, 40); // milliseconds of training
        int deaths = 0;
        qint64 worker = 0;
        bool doomed = false;
        killed.on_event = [&](const Json& event) {
            if (protocol::is_event(event, "hello")) {
                worker = event.at("pid").get<qint64>();
                doomed = false;
                if (deaths % 10 == 9 && deaths < deaths_wanted) // now and then before it trains
                    doomed = true;
            }
            if (protocol::is_event(event, "steps") && deaths < deaths_wanted)
                doomed = doomed || worker != 0;
            if (!doomed || worker == 0 || deaths >= deaths_wanted)
                return;
            QTimer::singleShot(moment(random), this, [&deaths, victim = worker] {
                if (::kill(static_cast<pid_t>(victim), SIGKILL) == 0)
                    ++deaths;
            });
            worker = 0;
        };
        QVERIFY2(killed.run() == 0, killed.story().c_str());
        QCOMPARE(deaths, deaths_wanted);
        QCOMPARE(killed.of_type("hello").size(), static_cast<std::size_t>(deaths_wanted) + 1);
        const auto last = [](const FaultyRun& run) {
            return load_checkpoint(CheckpointFolder(run.folder().checkpoints()).last());
        };
        QCOMPARE(QString::fromStdString(difference(last(alone), last(killed))), QString());
    }
};

QTEST_GUILESS_MAIN(TestDeaths)
#include "tst_deaths.moc"
