// SPDX-License-Identifier: GPL-3.0-or-later
// The markers of a run in its plots: their stories, told to the mouse and to keys, and what can be done at them.
#include "plot_driver.h"
#include "plot_group.h"
#include "sample_run.h"
#include "stand_in.h"
#include "watched_test.h"

#include <QApplication>
#include <QHelpEvent>
#include <QToolTip>

using namespace espalier;
using namespace espalier::test;

class TestPlotMarkers : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() { Theme::install(Theme::Mode::light); } // for a page without a window

    void markers_tell_their_stories_to_the_mouse_and_to_keys() {
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        PlotGroup* plots = driver.window->run_page()->plots();
        LivePlot* plot = plots->loss();
        QTRY_VERIFY(!canvas(plot)->graph(0)->data()->isEmpty());
        const auto& markers = driver.run()->markers();
        QVERIFY(markers.size() >= 2);
        const auto pixel = [&](std::size_t marker) {
            return QPoint(static_cast<int>(canvas(plot)->xAxis->coordToPixel(markers[marker].position)),
                          middle(plot).y());
        };
        QHelpEvent hover(QEvent::ToolTip, pixel(1), canvas(plot)->mapToGlobal(pixel(1)));
        QApplication::sendEvent(canvas(plot), &hover);
        QTRY_COMPARE(QToolTip::text(), markers[1].story);
        QVERIFY2(markers[1].story.contains(QStringLiteral("heckpoint at step 378")), qPrintable(markers[1].story));

        plot->setFocus();
        const auto described = [&](const char* words) {
            return plot->accessibleDescription().contains(QLatin1String(words));
        };
        QTest::keyClick(plot, Qt::Key_Right, Qt::ControlModifier);
        QTRY_COMPARE(QToolTip::text(), markers[0].story);
        QVERIFY2(described("step 189 "), qPrintable(plot->accessibleDescription()));
        QTest::keyClick(plot, Qt::Key_Right, Qt::ControlModifier);
        QTRY_COMPARE(QToolTip::text(), markers[1].story);
        QVERIFY(plots->memory()->note().contains(QStringLiteral("step 378"))); // one crosshair for all
        QTest::keyClick(plot, Qt::Key_Left, Qt::ControlModifier);
        QVERIFY(described("step 189 "));
        QTest::keyClick(plot, Qt::Key_Right, Qt::ShiftModifier);
        QVERIFY2(described("step 197 "), qPrintable(plot->accessibleDescription())); // a hundredth further
        QVERIFY(plots->is_following());
        QTest::keyClick(plot, Qt::Key_Escape);
        QVERIFY(!described("step 197 "));
    }

    void a_pause_is_marked_with_its_length() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(20));
        QVERIFY(driver.click(QStringLiteral("pause")));
        QVERIFY(driver.wait_for_state(RunState::paused));
        QVERIFY(driver.click(QStringLiteral("band-resume")));
        QVERIFY(driver.wait_for_state(RunState::running));
        const auto& markers = driver.run()->markers();
        QVERIFY(!markers.empty());
        QVERIFY2(markers.back().story.contains(QStringLiteral("Paused at step")), qPrintable(markers.back().story));
    }

    void a_fallback_is_taken_back_at_its_marker() {
        WindowDriver driver(engine, {QStringLiteral("--fall-back-at"), QStringLiteral("20")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(30));
        const auto marker = [&]() -> const PlotMarker* {
            for (const PlotMarker& one : driver.run()->markers())
                if (!one.action.isEmpty())
                    return &one;
            return nullptr;
        };
        QVERIFY(marker());
        LivePlot* plot = driver.window->run_page()->plots()->loss();
        driver.window->run_page()->redraw_plots();
        const double x = canvas(plot)->xAxis->coordToPixel(marker()->position);
        QTest::mouseClick(canvas(plot), Qt::LeftButton, {}, QPoint(static_cast<int>(x), middle(plot).y()));
        auto* menu = plot->findChild<QMenu*>(QStringLiteral("markerMenu"));
        QVERIFY(menu);
        QVERIFY(menu->actions().first()->text().contains(QStringLiteral("9.1 GB")));
        QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(menu->actions().last()).center());
        QVERIFY(driver.wait_for_state(RunState::stopped));
        QVERIFY(driver.wait_for_state(RunState::running)); // resumed without it
    }

    /// From the plan on that tells that it is so, not only once another thing is marked.
    void what_was_taken_back_is_offered_no_more() {
        RunModel model(QStringLiteral("r"));
        SampleRun run;
        const auto feed = [&](const Json& event) { model.apply(read_event(event)); };
        for (const Json& event : run.past(60))
            feed(event);
        feed(run.fallback("recompute", "off", "on", "It had to be.", {{"toggles", {{"recompute", false}}}}));
        for (const Json& event : run.past(120))
            feed(event);
        RunPage page;
        page.resize(1000, 640);
        page.show_run(&model);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        LivePlot* plot = page.plots()->loss();
        const auto is_offered = [&] {
            page.refresh();
            plot->refresh(true);
            const double x = canvas(plot)->xAxis->coordToPixel(60);
            QTest::mouseClick(canvas(plot), Qt::LeftButton, {}, QPoint(static_cast<int>(x), middle(plot).y()));
            const auto* menu = plot->findChild<QMenu*>(QStringLiteral("markerMenu"));
            delete menu;
            return menu != nullptr;
        };
        QVERIFY(is_offered());
        feed(run.phase("stopped"));
        feed(run.hello(2)); // a person has resumed it without
        QVERIFY(is_offered());
        feed(run.plan());
        QVERIFY(!is_offered());
    }
};

WATCHED_TEST_MAIN(TestPlotMarkers)
#include "tst_plot_markers.moc"
