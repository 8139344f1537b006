// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that wait for their turn, in the rail of the window: their order, their beginning and their end.
#include "rail_driver.h"
#include "stand_in.h"
#include "watched_test.h"

#include <QLabel>
#include <QMessageBox>

using namespace espalier;
using namespace espalier::test;

class TestQueuedRuns : public WatchedTest {
    Q_OBJECT

private slots:
    void runs_are_queued_ordered_and_taken_out() {
        WindowDriver driver(engine);
        for (int i = 0; i < 3; ++i)
            QVERIFY(queue_one(driver));
        const QStringList before{QStringLiteral("quick-3"), QStringLiteral("quick-4"), QStringLiteral("quick-5")};
        QTRY_COMPARE(queue_of(driver), before);
        QCOMPARE(driver.find<QLabel>(QStringLiteral("queueTitle"))->text(), QStringLiteral("QUEUE (3)"));
        QCOMPARE(names(driver).size(), 2); // those of before
        QVERIFY(!driver.find(QStringLiteral("queue-up-quick-3"))->isEnabled());
        QVERIFY(driver.click(QStringLiteral("queue-up-quick-5")));
        const QStringList after{QStringLiteral("quick-3"), QStringLiteral("quick-5"), QStringLiteral("quick-4")};
        QTRY_COMPARE(queue_of(driver), after);
        QTest::qWait(2500); // the machine's list has come again
        QCOMPARE(queue_of(driver), after);
        QVERIFY(driver.click(QStringLiteral("queue-remove-quick-5")));
        QTRY_COMPARE(queue_of(driver).size(), 2);
        QTRY_VERIFY(names(driver).contains(QStringLiteral("quick-5")));
    }

    void a_waiting_run_is_looked_at_and_begun_at_once() {
        WindowDriver driver(engine);
        QVERIFY(queue_one(driver));
        QTRY_COMPARE(queue_of(driver).size(), 1);
        QVERIFY(driver.click(QStringLiteral("queue-name-quick-3")));
        QVERIFY(driver.wait_for_state(RunState::queued));
        QTRY_VERIFY(driver.find(QStringLiteral("band"))->accessibleName().contains(QStringLiteral("until grow-2")));
        QVERIFY(!driver.find(QStringLiteral("pause"))->isVisible());
        QVERIFY(driver.find(QStringLiteral("stop"))->isVisible());
        QVERIFY(driver.click(QStringLiteral("band-resume")));
        QVERIFY(driver.wait_for_step(10));
        QTRY_COMPARE(queue_of(driver).size(), 0);
        QTRY_COMPARE(names(driver).size(), 3);
    }

    void a_waiting_run_has_a_menu() {
        WindowDriver driver(engine);
        QVERIFY(queue_one(driver));
        QVERIFY(queue_one(driver));
        QTRY_COMPARE(queue_of(driver).size(), 2);
        const auto row = [&](const char* name) { return driver.find(QLatin1String(name))->parentWidget(); };
        QVERIFY(choose(driver, row("queue-name-quick-4"), {5, 5}, "runEarlier"));
        const QStringList moved{QStringLiteral("quick-4"), QStringLiteral("quick-3")};
        QTRY_COMPARE(queue_of(driver), moved);
        QVERIFY(choose(driver, row("queue-name-quick-3"), {5, 5}, "runUnqueue"));
        QTRY_COMPARE(queue_of(driver), QStringList{QStringLiteral("quick-4")});
    }

    /// Who looks at another program at night hears of every run, opened in this window or not.
    void the_end_of_every_run_is_told_data() {
        QTest::addColumn<bool>("opened");
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<RunState>("state");
        const QStringList sound{QStringLiteral("--pace"), QStringLiteral("200")};
        const QStringList faulty{QStringLiteral("--pace"), QStringLiteral("200"), QStringLiteral("--fail-at"),
                                 QStringLiteral("300")};
        QTest::newRow("finished, never opened") << false << sound << RunState::finished;
        QTest::newRow("failed, never opened") << false << faulty << RunState::failed;
        QTest::newRow("finished, opened") << true << sound << RunState::finished;
        QTest::newRow("failed, opened") << true << faulty << RunState::failed;
    }
    void the_end_of_every_run_is_told() {
        QFETCH(bool, opened);
        QFETCH(QStringList, arguments);
        QFETCH(RunState, state);
        WindowDriver driver(engine, arguments);
        std::vector<RunEnd> ends;
        connect(driver.window->runs(), &RunStore::ended, this, [&](const RunEnd& end) { ends.push_back(end); });
        QVERIFY(queue_one(driver));
        QTRY_COMPARE(queue_of(driver).size(), 1);
        if (opened)
            QVERIFY(driver.click(QStringLiteral("queue-name-quick-3")));
        auto* row = driver.find(QStringLiteral("queue-name-quick-3"))->parentWidget();
        QVERIFY(choose(driver, row, {5, 5}, "runBegin"));
        QTRY_COMPARE_WITH_TIMEOUT(ends.size(), std::size_t{1}, 20000);
        QCOMPARE(ends[0].name, QStringLiteral("quick-3"));
        QCOMPARE(ends[0].state, state);
        QTest::qWait(2500); // the machine's list comes again: it is told once
        QCOMPARE(ends.size(), std::size_t{1});
    }

    void closing_with_a_queue_says_what_becomes_of_it() {
        WindowDriver driver(engine);
        QVERIFY(queue_one(driver));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(10));
        QVERIFY(!driver.window->close());
        auto* box = driver.find<QMessageBox>(QStringLiteral("closeDialog"));
        QVERIFY(box && box->informativeText().contains(QStringLiteral("queue (1)")));
        QTest::mouseClick(driver.find<QPushButton>(QStringLiteral("saveAndStop")), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!driver.window->isVisible(), 10000);
        for (const RunEntry& run : driver.window->runs()->runs())
            QVERIFY2(!is_active(driver.window->runs()->state_of(run.id)), qPrintable(run.name));
    }
};

WATCHED_TEST_MAIN(TestQueuedRuns)
#include "tst_queued_runs.moc"
