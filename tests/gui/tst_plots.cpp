// SPDX-License-Identifier: GPL-3.0-or-later
// What a person does with the plots of a run, over the whole window: zoom, crosshair, axes, smoothing.
#include "plot_driver.h"
#include "plot_group.h"
#include "sample_run.h"
#include "stand_in.h"
#include "watched_test.h"

#include <QApplication>
#include <QSignalSpy>
#include <QWheelEvent>
#include <cmath>
#include <memory>
#include <vector>

using namespace espalier;
using namespace espalier::test;

namespace {

void turn_wheel(LivePlot* plot, int notches) {
    QCustomPlot* at = canvas(plot);
    const QPointF here = middle(plot);
    QWheelEvent event(here, at->mapToGlobal(here), {}, {0, 120 * notches}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(at, &event);
}

} // namespace

class TestPlots : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() { Theme::install(Theme::Mode::light); } // for a page without a window

    void the_mouse_zooms_moves_and_fits() {
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        PlotGroup* plots = driver.window->run_page()->plots();
        QVERIFY(plots->is_following());
        const auto whole = plots->range();
        turn_wheel(plots->accuracy(), 3);
        QVERIFY(!plots->is_following());
        const auto zoomed = plots->range();
        QVERIFY(zoomed.second - zoomed.first < 0.6 * (whole.second - whole.first));
        for (LivePlot* plot : plots->plots()) // one axis for all
            QCOMPARE(canvas(plot)->xAxis->range().lower, zoomed.first);
        QCustomPlot* at = canvas(plots->loss());
        const QPoint from = middle(plots->loss());
        QTest::mousePress(at, Qt::LeftButton, {}, from);
        QTest::mouseMove(at, from + QPoint(40, 0));
        QTest::mouseRelease(at, Qt::LeftButton, {}, from + QPoint(40, 0));
        QVERIFY(plots->range().first < zoomed.first); // the curve went to the right with the mouse
        QVERIFY(std::abs((plots->range().second - plots->range().first) - (zoomed.second - zoomed.first)) < 1e-6);
        QTest::mouseDClick(canvas(plots->memory()), Qt::LeftButton, {}, middle(plots->memory()));
        QVERIFY(plots->is_following());
        QCOMPARE(plots->range(), whole);
    }

    void a_burst_of_zooms_is_drawn_once_it_is_over() {
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        PlotGroup* plots = driver.window->run_page()->plots();
        QTRY_VERIFY(!canvas(plots->loss())->graph(0)->data()->isEmpty());
        std::vector<std::unique_ptr<QSignalSpy>> drawn;
        for (LivePlot* plot : plots->plots())
            drawn.push_back(std::make_unique<QSignalSpy>(canvas(plot), &QCustomPlot::afterReplot));
        for (int i = 0; i < 20; ++i)
            emit plots->memory()->range_requested(i, 100 - i);
        for (const auto& spy : drawn)
            QCOMPARE(spy->count(), 0);
        for (const auto& spy : drawn)
            QTRY_VERIFY(spy->count() > 0);
        QCOMPARE(plots->range(), (std::pair<double, double>(19, 81)));
    }

    void one_crosshair_reads_all_plots() {
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        PlotGroup* plots = driver.window->run_page()->plots();
        QTRY_VERIFY(!canvas(plots->loss())->graph(0)->data()->isEmpty());
        QTest::mouseMove(canvas(plots->loss()), middle(plots->loss()));
        for (LivePlot* plot : {plots->loss(), plots->accuracy()})
            QTRY_VERIFY2(plot->note().contains(QStringLiteral("step 3")) &&
                             plot->note().contains(QStringLiteral("train ")),
                         qPrintable(plot->note()));
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(canvas(plots->loss()), &leave);
        QVERIFY(!plots->loss()->note().contains(QStringLiteral("step")));
    }

    void train_and_validation_are_told_apart_without_colour() {
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        for (LivePlot* plot :
             {driver.window->run_page()->plots()->loss(), driver.window->run_page()->plots()->accuracy()}) {
            QCOMPARE(canvas(plot)->graphCount(), 3);
            const QPen raw = canvas(plot)->graph(0)->pen(), train = canvas(plot)->graph(1)->pen(),
                       validation = canvas(plot)->graph(2)->pen();
            QCOMPARE(train.widthF(), 1.5);
            QCOMPARE(validation.widthF(), 1.5);
            QCOMPARE(train.style(), Qt::SolidLine);
            QCOMPARE(validation.style(), Qt::CustomDashLine);
            QVERIFY(raw.widthF() < train.widthF() && raw.color() != train.color());
            QVERIFY(canvas(plot)->plottingHints().testFlag(QCP::phFastPolylines));
        }
    }

    void the_axis_counts_what_is_chosen() {
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        PlotGroup* plots = driver.window->run_page()->plots();
        auto* button = driver.window->run_page()->findChild<QPushButton*>(QStringLiteral("plotAxis"));
        QVERIFY(choose(button, QStringLiteral("epoch")));
        QCOMPARE(plots->axis(), AxisKind::epoch);
        QCOMPARE(button->text(), QStringLiteral("epoch"));
        QVERIFY(std::abs(plots->range().second - 12) < 0.1);
        QVERIFY(choose(button, QStringLiteral("time")));
        QVERIFY(std::abs(plots->range().second - 756 * 0.045) < 1); // of training, at the pace of the sample
        QVERIFY(choose(button, QStringLiteral("step")));
        QCOMPARE(plots->range().second, 756.0);
    }

    void smoothing_is_of_all_values_and_stays_chosen() {
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        QVERIFY(choose(driver.window->run_page()->findChild<QPushButton*>(QStringLiteral("plotSmooth")),
                       QStringLiteral("smooth 0.98")));
        const auto check = [&] {
            const SmoothedSeries& loss = driver.run()->loss;
            QCOMPARE(loss.smooth.size(), loss.raw.size());
            double mean = 0, share = 1;
            for (std::size_t i = 0; i < loss.raw.size(); ++i) {
                mean = 0.98 * mean + 0.02 * loss.raw.value_at(i);
                share *= 0.98;
            }
            const double smooth = loss.smooth.value_at(loss.smooth.size() - 1);
            QVERIFY(std::abs(smooth - mean / (1 - share)) < 1e-4);
        };
        check();
        auto* list = driver.find<QListWidget>(QStringLiteral("runList"));
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(1)).center());
        QVERIFY(driver.wait_for_state(RunState::failed));
        QTRY_COMPARE(driver.run()->loss.smooth.size(), std::size_t{430});
        check(); // what the button says holds for the next run too
    }

    void a_logarithmic_axis_is_chosen_for_all_plots_or_one() {
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        PlotGroup* plots = driver.window->run_page()->plots();
        auto* log = driver.window->run_page()->findChild<QPushButton*>(QStringLiteral("plotLog"));
        QTest::mouseClick(log, Qt::LeftButton);
        QVERIFY(plots->loss()->is_logarithmic());
        QVERIFY(!plots->loss()->accessibleDescription().contains(QStringLiteral("logarithmic")));
        auto* menu = plots->loss()->findChild<QPushButton*>(QStringLiteral("plotMenu"));
        QVERIFY(choose(menu, QStringLiteral("Logarithmic axis")));
        QVERIFY(!plots->loss()->is_logarithmic() && !log->isChecked()); // both say the same
        QVERIFY(choose(plots->gflops()->findChild<QPushButton*>(QStringLiteral("plotMenu")),
                       QStringLiteral("Logarithmic axis")));
        QVERIFY(plots->gflops()->is_logarithmic());
    }

    /// By a sentence, and a button that does something about it.
    void an_empty_plot_says_why_data() {
        QTest::addColumn<QStringList>("phases"); ///< that come one after the other; "steps": some of training
        QTest::addColumn<QString>("title");      ///< of the buttons; empty: none
        QTest::addColumn<QString>("action");
        QTest::addColumn<int>("count"); ///< of plots that are empty
        const auto add = [](const char* phases, const char* title, const char* action, int count = 4) {
            QTest::newRow(phases) << QString::fromLatin1(phases).split(QLatin1Char(' ')) << QString::fromUtf8(title)
                                  << QString::fromLatin1(action) << count;
        };
        add("preparing", "Show the log", "log");
        add("queued", "Begin now", "resume");
        add("queued preparing", "Show the log", "log");
        add("preparing failed", "Change settings…", "like");
        add("preparing stopped", "Start again", "resume");
        add("preparing interrupted", "Start again", "resume");
        add("preparing training steps", "Show the log", "log", 2);
        add("preparing training steps stopped", "Start again", "resume", 2);
        add("preparing training steps finished", "More epochs…", "more_epochs", 2);
    }
    void an_empty_plot_says_why() {
        QFETCH(QStringList, phases);
        QFETCH(QString, title);
        QFETCH(QString, action);
        QFETCH(int, count);
        RunModel model(QStringLiteral("r"));
        RunPage page;
        page.resize(1000, 640);
        page.show_run(&model);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        SampleRun run;
        for (const QString& phase : phases)
            model.apply(read_event(phase == u"steps" ? run.steps(20) : run.phase(phase.toUtf8())));
        page.refresh();
        page.redraw_plots();
        QString asked;
        connect(&page, &RunPage::action_requested, &page, [&](const QString& command) { asked = command; });
        const auto empty = [&] {
            std::vector<LivePlot*> plots;
            for (LivePlot* plot : page.plots()->plots())
                if (plot->findChild<QPushButton*>(QStringLiteral("emptyPlot"))->isVisible())
                    plots.push_back(plot);
            return plots;
        };
        QTRY_COMPARE(static_cast<int>(empty().size()), count); // they are drawn in turn
        for (LivePlot* plot : empty()) {
            auto* button = plot->findChild<QPushButton*>(QStringLiteral("emptyPlot"));
            QCOMPARE(button->text(), title);
            QVERIFY(canvas(plot)->rect().contains(button->geometry()));
            page.show_tab(RunPage::live_tab);
            QTRY_VERIFY(button->isVisible());
            QTest::mouseClick(button, Qt::LeftButton);
            if (action == u"log")
                QVERIFY(!button->isVisible()); // the log took its place
            else
                QCOMPARE(asked, action);
        }
    }
};

WATCHED_TEST_MAIN(TestPlots)
#include "tst_plots.moc"
