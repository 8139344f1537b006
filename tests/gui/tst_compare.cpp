// SPDX-License-Identifier: GPL-3.0-or-later
// Comparing runs, over the whole window: selected in the list, seen side by side, and back.
#include "compare_page.h"
#include "config_differences.h"
#include "plot_exports.h"
#include "plot_group.h"
#include "watched_test.h"
#include "window_driver.h"

#include <qcustomplot.h>

#include <QAction>
#include <QFile>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QWheelEvent>
#include <cmath>
#include <optional>
#include <set>

using namespace espalier;
using namespace espalier::test;

namespace {

const QString engine = QStringLiteral(FAKE_SERVE);

void click_run(WindowDriver& driver, int row, Qt::KeyboardModifiers modifiers = {}) {
    auto* list = driver.find<QListWidget>(QStringLiteral("runList"));
    QTest::mouseClick(list->viewport(), Qt::LeftButton, modifiers, list->visualItemRect(list->item(row)).center());
}

bool wait_for_runs(WindowDriver& driver, int count) {
    auto* list = driver.find<QListWidget>(QStringLiteral("runList"));
    return QTest::qWaitFor([&] { return list->count() == count; });
}

ComparePage* page(WindowDriver& driver) { return driver.window->compare_page(); }

bool wait_for_curves(WindowDriver& driver) {
    return QTest::qWaitFor([&] {
        const ComparedRuns& runs = page(driver)->runs();
        std::set<int> drawn;
        for (const Curve& curve : page(driver)->plots()->loss()->curves())
            drawn.insert(curve.tag);
        if (drawn.size() < runs.size())
            return false;
        for (std::size_t i = 0; i < runs.size(); ++i)
            if (!runs.curves(i) || !runs.config(i))
                return false;
        return runs.size() > 0;
    });
}

QString cell(WindowDriver& driver, const QString& title, int column) {
    const auto* table = driver.find<QTableWidget>(QStringLiteral("compareTable"));
    for (int row = 0; row < table->rowCount(); ++row)
        if (const auto* head = table->item(row, 0); head && head->text() == title)
            return table->item(row, column) ? table->item(row, column)->text() : QString();
    return QStringLiteral("no row");
}

/// The run of a million steps beside a short one.
bool compare_with_a_long_one(WindowDriver& driver) {
    if (!wait_for_runs(driver, 3))
        return false;
    click_run(driver, 1);
    if (!driver.wait_for_state(RunState::finished))
        return false;
    click_run(driver, 0, Qt::ControlModifier);
    return wait_for_curves(driver) && QTest::qWaitFor([&] { return page(driver)->plots()->range().second == 1e6; });
}

/// The wheel over a place of the loss plot, as a share of its width.
void wheel(WindowDriver& driver, double share, int notches) {
    auto* canvas = page(driver)->plots()->loss()->findChild<QCustomPlot*>();
    const QRect area = canvas->axisRect()->rect();
    for (int i = 0; i < std::abs(notches); ++i) {
        const QPointF at(area.left() + share * area.width(), area.center().y());
        QWheelEvent event(at, canvas->mapToGlobal(at), {}, {0, notches > 0 ? 120 : -120}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(canvas, &event);
    }
}

/// Steps that a value tells of as it is drawn; 0 while others are about to be.
std::int64_t width_of(WindowDriver& driver, std::size_t run = 0) {
    const ComparedRuns& runs = page(driver)->runs();
    return runs.has_told() ? runs.curves(run)->width : 0;
}

/// What the stand-in made up for a step of its long run.
float made_up_loss(std::int64_t step) {
    return static_cast<float>(2 - 1.7 * static_cast<double>((step - 1) / 10'000) / 100 + (step % 2 == 0 ? 0.1 : -0.1));
}

/// The same as the window smooths it, of all steps up to there.
float made_up_smooth_loss(std::int64_t step, double weight) {
    double mean = 0, rest = 1;
    for (auto at = std::max<std::int64_t>(1, step - 1000); at <= step; ++at) { // of 0.9 the rest is nothing
        mean = weight * mean + (1 - weight) * static_cast<double>(made_up_loss(at));
        rest *= weight;
    }
    return static_cast<float>(mean / (1 - rest));
}

void choose_smoothing(WindowDriver& driver, const char* text) {
    const auto* smooth = page(driver)->findChild<QPushButton*>(QStringLiteral("plotSmooth"));
    for (QAction* action : smooth->menu()->actions())
        if (action->text() == QLatin1String(text))
            action->trigger();
}

QString state_text(WindowDriver& driver) { return driver.find<QLabel>(QStringLiteral("compareState"))->text(); }

QList<QByteArray> exported_lines(WindowDriver& driver, const QString& file) {
    const QSignalSpy told(page(driver)->exports(), &PlotExports::told);
    page(driver)->exports()->write({page(driver)->plots()->loss()}, file);
    QFile table(file);
    if (!QTest::qWaitFor([&] { return told.count() == 1; }) || !table.open(QIODevice::ReadOnly))
        return {};
    return table.readAll().split('\n');
}

std::vector<Curve> shown(WindowDriver& driver) { return page(driver)->plots()->loss()->curves(); }

} // namespace

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

    void a_run_of_a_million_steps_comes_as_its_overview() {
        WindowDriver driver(engine, {QStringLiteral("--overview")});
        QVERIFY(wait_for_runs(driver, 3));
        click_run(driver, 1);
        QVERIFY(driver.wait_for_state(RunState::finished));
        click_run(driver, 0, Qt::ControlModifier);
        QVERIFY(wait_for_curves(driver));
        QVERIFY(page(driver)->runs().is_coarse(0) && !page(driver)->runs().is_coarse(1));
        QTRY_COMPARE(cell(driver, QStringLiteral("Best accuracy"), 1), QStringLiteral("91.0 %"));
        QCOMPARE(cell(driver, QStringLiteral("At epoch"), 1), QStringLiteral("777"));
        QCOMPARE(cell(driver, QStringLiteral("Steps"), 1), QStringLiteral("1,000,000"));
        QCOMPARE(cell(driver, QStringLiteral("Time of training"), 1), QStringLiteral("2:46:40"));
        QCOMPARE(page(driver)->plots()->range().second, 1e6);
        QVERIFY(state_text(driver).contains(QStringLiteral("zoom in")));
    }

    /// Not the means of buckets are smoothed, but each step before it goes into one.
    void all_of_a_long_run_is_smoothed_step_by_step() {
        WindowDriver driver(engine, {QStringLiteral("--overview")});
        QVERIFY(compare_with_a_long_one(driver));
        const auto smoothing = [&] {
            const ComparedRuns& runs = page(driver)->runs();
            return runs.has_told() ? runs.curves(0)->smoothing : -1;
        };
        double from_means = 0; // the largest difference
        const auto check = [&](double weight) {
            const MetricSeries& loss = *shown(driver)[0].series;
            QCOMPARE(loss.size(), std::size_t{100});
            double mean = 0, rest = 1, smooth_sum = 0, sum = 0;
            from_means = 0;
            for (std::int64_t step = 1; step <= 1'000'000; ++step) {
                const double value = static_cast<double>(made_up_loss(step));
                mean = weight * mean + (1 - weight) * value;
                rest *= weight;
                smooth_sum += mean / (1 - rest);
                sum += value;
                if (step % 10'000 > 0)
                    continue;
                const double drawn = static_cast<double>(loss.value_at(static_cast<std::size_t>(step / 10'000 - 1)));
                QVERIFY(std::abs(drawn - smooth_sum / 10'000) < 1e-5);
                from_means = std::max(from_means, std::abs(smooth_sum - sum) / 10'000);
                smooth_sum = sum = 0;
            }
        };
        for (const auto& [text, weight] :
             {std::pair{"smooth 0.9", 0.9}, {"smooth 0.999", 0.999}, {"not smooth", 0.0}}) {
            choose_smoothing(driver, text);
            QTRY_COMPARE(smoothing(), weight);
            check(weight);
            QVERIFY((from_means > 1e-3) == (weight == 0.999)); // for which plain means would not do
        }
        QTRY_COMPARE(width_of(driver), 10'000);
    }

    void a_zoom_brings_finer_buckets_and_single_steps() {
        WindowDriver driver(engine, {QStringLiteral("--overview")});
        QVERIFY(compare_with_a_long_one(driver));
        QTRY_COMPARE(width_of(driver), 10'000);
        wheel(driver, 0.5, 8); // 168,000 steps
        QTRY_COMPARE(width_of(driver), 164);
        QCOMPARE(page(driver)->plots()->range().second - page(driver)->plots()->range().first, 1e6 * std::pow(0.8, 8));
        QVERIFY(state_text(driver).contains(QStringLiteral("zoom in")));
        wheel(driver, 0.5, 25);
        QTRY_COMPARE(width_of(driver), 1);
        QTRY_COMPARE(state_text(driver), QString());
        const auto check = [&](double weight) {
            const auto [low, high] = page(driver)->plots()->range();
            const MetricSeries& loss = *shown(driver)[0].series;
            for (auto step = std::llround(std::ceil(low)); step <= std::llround(std::floor(high)); ++step) {
                const auto at = loss.index_at(static_cast<double>(step));
                QCOMPARE(loss.step_at(at), step);
                const float expected = weight > 0 ? made_up_smooth_loss(step, weight) : made_up_loss(step);
                QVERIFY(std::abs(loss.value_at(at) - expected) < 1e-5F);
            }
            QVERIFY(loss.first_step() < 10'000 && loss.last_step() > 990'000); // beside it stands what there was
        };
        check(0.9);
        const auto smoothing = [&] { return width_of(driver) == 1 ? page(driver)->runs().curves(0)->smoothing : -1; };
        choose_smoothing(driver, "smooth 0.6"); // asks for others
        QTRY_COMPARE(smoothing(), 0.6);
        check(0.6);
        choose_smoothing(driver, "not smooth");
        QTRY_COMPARE(smoothing(), 0.0);
        check(0);
        QTest::mouseDClick(page(driver)->plots()->loss()->findChild<QCustomPlot*>(), Qt::LeftButton); // all of it again
        QTRY_COMPARE(shown(driver)[0].series->size(), std::size_t{100});
        QTRY_COMPARE(width_of(driver), 10'000);
    }

    void an_older_engine_gives_steps_as_they_are() {
        WindowDriver driver(engine, {QStringLiteral("--overview"), QStringLiteral("--no-smoothing")});
        QVERIFY(compare_with_a_long_one(driver));
        QTest::qWait(400);
        QCOMPARE(page(driver)->runs().curves(0)->smoothing, 0.0);
        wheel(driver, 0.5, 33);
        QTRY_COMPARE(width_of(driver), 1);
        QTRY_VERIFY(state_text(driver).contains(QStringLiteral("not smoothed"))); // as the other run is
        const auto [low, high] = page(driver)->plots()->range();
        const auto step = std::llround((low + high) / 2);
        const MetricSeries& loss = *shown(driver)[0].series;
        QCOMPARE(loss.value_at(loss.index_at(static_cast<double>(step))), made_up_loss(step));
    }

    void each_axis_brings_the_steps_that_it_shows() {
        WindowDriver driver(engine, {QStringLiteral("--overview")});
        QVERIFY(compare_with_a_long_one(driver));
        choose_smoothing(driver, "not smooth");
        PlotGroup* plots = page(driver)->plots();
        plots->set_axis(AxisKind::epoch); // of 1,000 steps, 0.01 s each
        wheel(driver, 0.5, 33);
        QTRY_COMPARE(width_of(driver), 1);
        const auto has = [&](double step) {
            const MetricSeries& loss = *shown(driver)[0].series;
            const auto at = loss.index_at(step);
            return static_cast<double>(loss.step_at(at)) == std::floor(step) &&
                   loss.value_at(at) == made_up_loss(loss.step_at(at));
        };
        QVERIFY(has((plots->range().first + plots->range().second) / 2 * 1000));
        plots->follow();
        QTRY_COMPARE(width_of(driver), 10'000);
        plots->set_axis(AxisKind::time);
        wheel(driver, 0.25, 33);
        QTRY_COMPARE(width_of(driver), 1);
        QVERIFY(has((plots->range().first + plots->range().second) / 2 * 100));
    }

    void old_buckets_stay_until_others_come_and_outdated_ones_are_dropped() {
        WindowDriver driver(engine,
                            {QStringLiteral("--overview"), QStringLiteral("--slow-overview"), QStringLiteral("400")});
        QVERIFY(compare_with_a_long_one(driver));
        QTRY_COMPARE(page(driver)->runs().curves(0)->smoothing, 0.9); // all of it has come, too
        std::set<std::int64_t> widths;
        bool always_whole = true;
        connect(&page(driver)->runs(), &ComparedRuns::changed, this, [&] {
            widths.insert(width_of(driver));
            always_whole = always_whole && shown(driver)[0].series->last_step() > 990'000;
        });
        wheel(driver, 0.5, 8);
        QTest::qWait(300); // it has been asked for
        QTRY_COMPARE(width_of(driver), 10'000);
        wheel(driver, 0.5, 4); // 69,000 steps
        QTRY_COMPARE(width_of(driver), 68);
        QTest::qWait(500);
        QTRY_COMPARE(width_of(driver), 68);
        QCOMPARE(widths, (std::set<std::int64_t>{68}));
        QVERIFY(always_whole);
    }

    void an_older_engine_is_not_asked_for_stretches() {
        WindowDriver driver(engine, {QStringLiteral("--overview"), QStringLiteral("--no-restore")});
        QVERIFY(compare_with_a_long_one(driver));
        QVERIFY(state_text(driver).contains(QStringLiteral("open one")));
        wheel(driver, 0.5, 20);
        QTest::qWait(400);
        QTRY_COMPARE(width_of(driver), 10'000);
        QCOMPARE(shown(driver)[0].series->size(), std::size_t{100});
        QVERIFY(state_text(driver).contains(QStringLiteral("open one")));
    }

    void a_zoomed_comparison_is_exported_as_it_is_seen() {
        const QTemporaryDir folder;
        WindowDriver driver(engine, {QStringLiteral("--overview")});
        QVERIFY(compare_with_a_long_one(driver));
        wheel(driver, 0.5, 33);
        QTRY_COMPARE(width_of(driver), 1);
        const auto [low, high] = page(driver)->plots()->range();
        const auto lines = exported_lines(driver, folder.filePath(QStringLiteral("steps.csv")));
        QVERIFY2(lines.value(0).startsWith("step,Loss weeks-3 training (smoothed 0.9),"), lines.value(0).constData());
        const auto first = std::llround(std::ceil(low)), last = std::llround(std::floor(high));
        QCOMPARE(lines.size(), last - first + 1 + 2);
        for (auto step = first; step <= last; ++step) {
            const auto cells = lines[1 + step - first].split(',');
            QCOMPARE(cells[0].toLongLong(), step);
            QVERIFY(std::abs(cells[1].toFloat() - made_up_smooth_loss(step, 0.9)) < 1e-5F);
        }
        page(driver)->plots()->follow();
        wheel(driver, 0.5, 8);
        QTRY_COMPARE(width_of(driver), 164);
        const auto means = exported_lines(driver, folder.filePath(QStringLiteral("means.csv")));
        QVERIFY2(means.value(0).startsWith("step,Loss weeks-3 training (mean of 164 steps smoothed 0.9),"),
                 means.value(0).constData());
        QVERIFY2(means.size() > 1020 && means.size() < 1028, QByteArray::number(means.size()));
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
