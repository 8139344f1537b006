// SPDX-License-Identifier: GPL-3.0-or-later
// The window over the real engine: click the demo, watch it learn, pause it, resume it, stop it, and find its files.
#include "plot_group.h"
#include "watched_test.h"
#include "window_driver.h"

#include <QDir>
#include <QDirIterator>
#include <QListWidget>
#include <QTemporaryDir>

using namespace espalier;
using namespace espalier::test;

class TestRealRun : public WatchedTest {
    Q_OBJECT

private slots:
    void a_run_from_click_to_files() {
        const QTemporaryDir runs;
        qputenv("ESPALIER_RUNS", runs.path().toLocal8Bit());
        QString path;
        {
            WindowDriver driver(QStringLiteral(ESPALIER_TRAIN), {QStringLiteral("serve")});
            QVERIFY(driver.click(QStringLiteral("preset-quick"), 20000));
            QVERIFY(driver.click(QStringLiteral("start"), 20000));
            QVERIFY(driver.wait_for_state(RunState::running, 60000));
            QVERIFY(driver.wait_for_step(20, 60000));
            path = driver.run()->path();
            QVERIFY(driver.run()->plan() && driver.run()->plan()->parameters > 0);
            QVERIFY(driver.run()->last_step() > 20);
            QTRY_VERIFY_WITH_TIMEOUT(!driver.run()->memory[3].empty(), 20000);

            QVERIFY(driver.click(QStringLiteral("pause"), 20000));
            QVERIFY(driver.wait_for_state(RunState::paused, 30000));
            QVERIFY(driver.run()->checkpoint().has_value()); // a pause writes one
            const std::int64_t stood = driver.run()->step();
            QVERIFY(driver.click(QStringLiteral("band-resume"), 20000));
            QVERIFY(driver.wait_for_step(stood + 10, 60000));
            QVERIFY(driver.run()->loss.raw.size() >= static_cast<std::size_t>(stood)); // one curve, not two
            QCOMPARE(static_cast<std::int64_t>(driver.run()->loss.raw.size()), driver.run()->step());

            QVERIFY(driver.click(QStringLiteral("stop"), 20000));
            QVERIFY(driver.wait_for_state(RunState::stopped, 60000));
        }
        for (const char* file : {"config.json", "events.jsonl", "metrics.csv", "log.txt", "passport.json"})
            QVERIFY2(QFile::exists(path + QLatin1Char('/') + QLatin1String(file)), file);
        QVERIFY(QDirIterator(path + QStringLiteral("/checkpoints"), {QStringLiteral("*.safetensors")}, QDir::Files)
                    .hasNext());

        // a new window finds it, with its curve
        WindowDriver again(QStringLiteral(ESPALIER_TRAIN), {QStringLiteral("serve")});
        auto* list = again.find<QListWidget>(QStringLiteral("runList"));
        QTRY_COMPARE_WITH_TIMEOUT(list->count(), 1, 20000);
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(0)).center());
        QVERIFY(again.wait_for_state(RunState::stopped, 20000));
        QVERIFY(again.run()->step() > 20);
        QCOMPARE(again.run()->path(), path);
    }

    void a_run_goes_on_without_its_window() {
        const QTemporaryDir runs;
        qputenv("ESPALIER_RUNS", runs.path().toLocal8Bit());
        std::int64_t left_at = 0;
        QString path;
        {
            WindowDriver driver(QStringLiteral(ESPALIER_TRAIN), {QStringLiteral("serve")});
            QVERIFY(driver.click(QStringLiteral("preset-quick"), 20000));
            QVERIFY(driver.click(QStringLiteral("start"), 20000));
            QVERIFY(driver.wait_for_step(10, 60000));
            left_at = driver.run()->step();
            path = driver.run()->path();
            // destroyed without asking, as in a crash of the window
        }
        WindowDriver again(QStringLiteral(ESPALIER_TRAIN), {QStringLiteral("serve")});
        QTRY_COMPARE_WITH_TIMEOUT(again.find<QListWidget>(QStringLiteral("runList"))->count(), 1, 20000);
        again.window->show_run(path);
        QVERIFY(again.wait_for_step(left_at + 10, 60000));
        QCOMPARE(again.run()->state(), RunState::running);
        QVERIFY(again.click(QStringLiteral("stop"), 20000));
        QVERIFY(again.wait_for_state(RunState::stopped, 60000));
    }
};

WATCHED_TEST_MAIN(TestRealRun)
#include "tst_real_run.moc"
