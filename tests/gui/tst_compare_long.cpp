// SPDX-License-Identifier: GPL-3.0-or-later
// Long runs in a comparison: means of stretches, finer ones where it is zoomed, smoothed step by step.
#include "compare_driver.h"
#include "plot_exports.h"
#include "stand_in.h"
#include "watched_test.h"

#include <qcustomplot.h>

#include <QFile>
#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QWheelEvent>
#include <cmath>
#include <optional>

using namespace espalier;
using namespace espalier::test;

namespace {

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

QString state_text(WindowDriver& driver) { return driver.find<QLabel>(QStringLiteral("compareState"))->text(); }

QList<QByteArray> exported_lines(WindowDriver& driver, const QString& file) {
    const QSignalSpy told(page(driver)->exports(), &PlotExports::told);
    page(driver)->exports()->write({page(driver)->plots()->loss()}, file);
    QFile table(file);
    if (!QTest::qWaitFor([&] { return told.count() == 1; }) || !table.open(QIODevice::ReadOnly))
        return {};
    return table.readAll().split('\n');
}

} // namespace

class TestCompareLong : public WatchedTest {
    Q_OBJECT

private slots:
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
};

WATCHED_TEST_MAIN(TestCompareLong)
#include "tst_compare_long.moc"
