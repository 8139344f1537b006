// SPDX-License-Identifier: GPL-3.0-or-later
// Comparing runs, over the whole window: selected in the list, seen side by side, and back.
#include "compare_driver.h"
#include "config_differences.h"
#include "plot_exports.h"
#include "stand_in.h"
#include "watched_test.h"

#include <qcustomplot.h>

#include <QAction>
#include <QFile>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTemporaryDir>
#include <cmath>
#include <optional>
#include <set>

using namespace espalier;
using namespace espalier::test;

class TestCompare : public WatchedTest {
    Q_OBJECT

private slots:
    void two_runs_are_chosen_with_ctrl() {
        WindowDriver driver(engine);
        QVERIFY(wait_for_runs(driver, 2));
        click_run(driver, 0);
        QVERIFY(driver.wait_for_state(RunState::finished));
        click_run(driver, 1, Qt::ControlModifier);
        QTRY_VERIFY(page(driver)->isVisible());
        QVERIFY(wait_for_curves(driver));
        QCOMPARE(shown(driver).size(), std::size_t{4}); // training and validation of both
        QCOMPARE(shown(driver)[0].tag, 1);
        QCOMPARE(shown(driver)[2].tag, 2);
        QVERIFY(shown(driver)[0].role != shown(driver)[2].role);
        for (const char* run : {"quick-1: training", "quick-1: validation", "grow-2: training"}) // for screen readers
            QTRY_VERIFY2(page(driver)->plots()->loss()->accessibleDescription().contains(QLatin1String(run)), run);
        QCOMPARE(shown(driver)[0].series->size(), std::size_t{756});
        QCOMPARE(shown(driver)[2].series->size(), std::size_t{430});
        QTRY_COMPARE(cell(driver, QStringLiteral("Steps"), 1), QStringLiteral("756"));
        QCOMPARE(cell(driver, QStringLiteral("Steps"), 2), QStringLiteral("430"));
        QCOMPARE(cell(driver, QStringLiteral("State"), 2), QStringLiteral("Failed"));
        QVERIFY2(cell(driver, QStringLiteral("Best accuracy"), 1).endsWith(QStringLiteral(" %")),
                 qPrintable(cell(driver, QStringLiteral("Best accuracy"), 1)));
        QVERIFY2(cell(driver, QStringLiteral("At epoch"), 1).startsWith(QLatin1Char('1')), // 11 or 12
                 qPrintable(cell(driver, QStringLiteral("At epoch"), 1)));
        // what differs and nothing else; runs of before are in the order of the list, the newest first
        QCOMPARE(cell(driver, QStringLiteral("Learning rate"), 1), QStringLiteral("0.2"));
        QCOMPARE(cell(driver, QStringLiteral("Learning rate"), 2), QStringLiteral("0.1"));
        QCOMPARE(cell(driver, QStringLiteral("Epochs"), 1), QStringLiteral("no row"));
        QCOMPARE(page(driver)->plots()->range(), (std::pair<double, double>(0, 756)));

        QVERIFY(driver.click(QStringLiteral("compareClose"))); // back to the run that was looked at
        QTRY_VERIFY(!page(driver)->isVisible());
        QCOMPARE(driver.run()->path(), QStringLiteral("/fake/runs/quick-1"));
        QCOMPARE(page(driver)->runs().size(), std::size_t{0});
        click_run(driver, 1);
        QVERIFY(driver.wait_for_state(RunState::failed)); // a plain click opens one, as ever
    }

    void eight_runs_at_most() {
        WindowDriver driver(engine, {QStringLiteral("--more-runs"), QStringLiteral("7")});
        QVERIFY(wait_for_runs(driver, 9));
        click_run(driver, 0);
        click_run(driver, 8, Qt::ShiftModifier);
        QTRY_VERIFY(page(driver)->isVisible());
        QCOMPARE(page(driver)->runs().size(), std::size_t{8});
        QVERIFY(driver.find(QStringLiteral("message"))->accessibleName().contains(QStringLiteral("first 8")));
        QVERIFY(wait_for_curves(driver));
        QTRY_COMPARE(shown(driver).size(), std::size_t{16});
        std::set<Role> roles;
        for (const Curve& curve : shown(driver))
            roles.insert(curve.role);
        QCOMPARE(roles.size(), std::size_t{8});
    }

    void results_of_eight_runs_are_read_whole() {
        WindowDriver driver(engine, {QStringLiteral("--more-runs"), QStringLiteral("7")});
        QVERIFY(wait_for_runs(driver, 9));
        click_run(driver, 0);
        click_run(driver, 8, Qt::ShiftModifier);
        QVERIFY(wait_for_curves(driver));
        QTRY_VERIFY(cell(driver, QStringLiteral("Best accuracy"), 8).endsWith(QLatin1Char('%')));
        auto* table = driver.find<QTableWidget>(QStringLiteral("compareTable"));
        for (const char* title : {"State", "Best accuracy", "At epoch", "Steps", "Time of training"})
            for (int column = 0; column < table->columnCount(); ++column) {
                const auto* item = table->findItems(QLatin1String(title), Qt::MatchExactly).value(0);
                QVERIFY2(item, title);
                const QModelIndex index = table->model()->index(item->row(), column);
                QVERIFY2(table->sizeHintForIndex(index).width() <= table->columnWidth(column),
                         qPrintable(index.data().toString()));
            }
    }

    void a_click_in_the_legend_hides_a_run() {
        WindowDriver driver(engine);
        QVERIFY(wait_for_runs(driver, 2));
        click_run(driver, 0);
        click_run(driver, 1, Qt::ControlModifier);
        QVERIFY(wait_for_curves(driver));
        QVERIFY(driver.click(QStringLiteral("compareRun-1")));
        QCOMPARE(shown(driver).size(), std::size_t{2});
        QCOMPARE(shown(driver)[0].tag, 2); // it keeps its number
        QCOMPARE(page(driver)->plots()->range().second, 430.0);
        QVERIFY(driver.click(QStringLiteral("compareRun-1")));
        QCOMPARE(shown(driver).size(), std::size_t{4});
    }

    void each_run_has_its_own_clock() {
        WindowDriver driver(engine);
        QVERIFY(wait_for_runs(driver, 2));
        click_run(driver, 0);
        click_run(driver, 1, Qt::ControlModifier);
        QVERIFY(wait_for_curves(driver));
        PlotGroup* plots = page(driver)->plots();
        QTRY_COMPARE(plots->range().second, 756.0);
        plots->set_axis(AxisKind::epoch);
        QVERIFY(std::abs(plots->range().second - 12) < 0.1);
        plots->set_axis(AxisKind::time);
        QVERIFY(std::abs(plots->range().second - 34) < 2);
        plots->set_axis(AxisKind::step);
        auto* canvas = plots->loss()->findChild<QCustomPlot*>();
        QTest::mouseMove(canvas, canvas->axisRect()->rect().center());
        QTRY_VERIFY2(plots->loss()->note().contains(QStringLiteral("1: ")) &&
                         plots->loss()->note().contains(QStringLiteral("2: ")),
                     qPrintable(plots->loss()->note()));
    }

    void a_run_that_trains_goes_on_in_the_comparison() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(20));
        QVERIFY(wait_for_runs(driver, 3));
        click_run(driver, 1, Qt::ControlModifier);
        QTRY_VERIFY(page(driver)->isVisible());
        QVERIFY(wait_for_curves(driver));
        const std::size_t then = shown(driver)[0].series->size();
        QTRY_VERIFY(shown(driver)[0].series->size() > then + 10);
        QTRY_COMPARE(cell(driver, QStringLiteral("State"), 1), QStringLiteral("Running"));
    }

    void the_comparison_is_exported() {
        const QTemporaryDir folder;
        WindowDriver driver(engine);
        QVERIFY(wait_for_runs(driver, 2));
        click_run(driver, 0);
        click_run(driver, 1, Qt::ControlModifier);
        QVERIFY(wait_for_curves(driver));
        const auto all = page(driver)->plots()->plots();
        const QString file = folder.filePath(QStringLiteral("compared.csv"));
        page(driver)->exports()->write({all.begin(), all.end()}, file);
        QTRY_VERIFY(QFile::exists(file));
        QFile table(file);
        QVERIFY(table.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = table.readAll().split('\n');
        QVERIFY2(lines[0].startsWith("step,Loss quick-1 training (smoothed 0.9),Loss quick-1 validation,"
                                     "Loss grow-2 training (smoothed 0.9)"),
                 lines[0].constData()); // no epoch: the runs have clocks of their own
        QCOMPARE(lines.size(), 756 + 2);
        QVERIFY(!lines[430].split(',')[3].isEmpty() && lines[431].split(',')[3].isEmpty()); // where grow-2 ended
    }

    void a_table_says_what_its_rows_are() {
        const QTemporaryDir folder;
        WindowDriver driver(engine, {QStringLiteral("--overview")});
        QVERIFY(wait_for_runs(driver, 3));
        click_run(driver, 1);
        QVERIFY(driver.wait_for_state(RunState::finished));
        click_run(driver, 0, Qt::ControlModifier);
        QVERIFY(wait_for_curves(driver));
        QTRY_COMPARE(page(driver)->runs().curves(0)->smoothing, 0.9);
        const QString file = folder.filePath(QStringLiteral("compared.csv"));
        const QSignalSpy told(page(driver)->exports(), &PlotExports::told);
        page(driver)->exports()->write({page(driver)->plots()->loss()}, file);
        QTRY_COMPARE(told.count(), 1);
        QFile table(file);
        QVERIFY(table.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = table.readAll().split('\n');
        QVERIFY2(lines[0].startsWith("step,Loss weeks-3 training (mean of 10000 steps smoothed 0.9),"),
                 lines[0].constData());
        QVERIFY2(lines[0].contains(",Loss quick-1 training (smoothed 0.9),"), lines[0].constData());
        choose_smoothing(driver, "not smooth");
        QVERIFY(QFile::remove(file));
        page(driver)->exports()->write({page(driver)->plots()->loss()}, file);
        QTRY_COMPARE(told.count(), 2);
        QFile raw(file);
        QVERIFY(raw.open(QIODevice::ReadOnly));
        const QByteArray head = raw.readLine();
        QVERIFY2(head.contains(",Loss quick-1 training,"), head.constData());
    }

    void a_window_that_closes_draws_no_more() { // the list of runs ends before the page does
        std::optional<WindowDriver> driver(engine);
        QVERIFY(wait_for_runs(*driver, 2));
        click_run(*driver, 0);
        QVERIFY(driver->wait_for_state(RunState::finished));
        click_run(*driver, 1, Qt::ControlModifier);
        QVERIFY(wait_for_curves(*driver));
        int changes = 0;
        connect(&page(*driver)->runs(), &ComparedRuns::changed, this, [&] { ++changes; });
        driver.reset();
        QCOMPARE(changes, 0);
    }

    void a_deleted_run_leaves_the_comparison() {
        WindowDriver driver(engine, {QStringLiteral("--more-runs"), QStringLiteral("1")});
        QVERIFY(wait_for_runs(driver, 3));
        click_run(driver, 0);
        click_run(driver, 2, Qt::ShiftModifier);
        QTRY_VERIFY(page(driver)->isVisible());
        QStringList left = page(driver)->runs().paths();
        QCOMPARE(left.size(), 3);
        driver.window->runs()->remove(left.takeFirst());
        QCOMPARE(page(driver)->runs().paths(), left);
        QVERIFY(page(driver)->isVisible());
        driver.window->runs()->remove(left.takeFirst());
        QVERIFY(!page(driver)->isVisible());
        QCOMPARE(driver.run()->path(), left.front());
    }

    void one_run_alone_is_told_how() {
        WindowDriver driver(engine);
        QVERIFY(wait_for_runs(driver, 2));
        click_run(driver, 0);
        driver.find<QAction>(QStringLiteral("compareRuns"))->trigger();
        QTRY_VERIFY(driver.find(QStringLiteral("message"))->isVisible());
        QVERIFY(driver.find(QStringLiteral("message"))->accessibleName().contains(QStringLiteral("Ctrl")));
        QVERIFY(!page(driver)->isVisible());
    }

    void settings_left_out_mean_their_defaults() {
        const auto differences =
            config_differences({Json{{"epochs", 10}, {"batch", 64}, {"network", {{"stages", {1, 2}}}}},
                                Json{{"batch", 128.0}, {"network", {{"stages", {1, 2}}}}, {"name", "b"}},
                                Json{{"batch", 64.0}, {"network", {{"stages", {2, 2}}}}, {"extra", true}}});
        QStringList fields;
        for (const auto& difference : differences)
            fields.append(difference.field);
        QVERIFY(!fields.contains(QStringLiteral("epochs")) && !fields.contains(QStringLiteral("name")));
        QCOMPARE(fields.size(), 3);
        for (const auto& difference : differences)
            if (difference.field == u"network.stages")
                QCOMPARE(difference.values,
                         (QStringList{QStringLiteral("1, 2"), QStringLiteral("1, 2"), QStringLiteral("2, 2")}));
            else if (difference.field == u"extra")
                QCOMPARE(difference.values,
                         (QStringList{QStringLiteral("–"), QStringLiteral("–"), QStringLiteral("on")}));
        const auto rates = config_differences({Json{{"optimizer", {{"learning_rate", 0.1 * 3}}}}, Json::object()});
        QCOMPARE(rates.at(0).values, (QStringList{QStringLiteral("0.3"), QStringLiteral("0.1")}));
        QVERIFY(config_differences({Json{{"seed", 1}}, Json::object()}).empty());
    }
};

WATCHED_TEST_MAIN(TestCompare)
#include "tst_compare.moc"
