// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline below the plots: one axis with them, and its stories told to the mouse and to keys.
#include "plot_group.h"
#include "run_list.h"
#include "stand_in.h"
#include "timeline.h"
#include "watched_test.h"

#include <qcustomplot.h>

#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>

using namespace espalier;
using namespace espalier::test;

class TestTimeline : public WatchedTest {
    Q_OBJECT

private slots:
    /// What the mouse is told on the timeline, keys are told, too: of each phase and each event in view.
    void the_timeline_tells_its_stories_to_keys() {
        Theme::install(Theme::Mode::light); // no window does it here
        Timeline timeline;
        timeline.resize(900, 40);
        timeline.set_content(
            {{0, 50, Role::series2, QStringLiteral("warm-up")}, {50, 100, Role::series1, QStringLiteral("training")}},
            {PlotMarker{.position = 20, .story = QStringLiteral("first")},
             PlotMarker{.position = 80, .story = QStringLiteral("second")},
             PlotMarker{.position = 300, .story = QStringLiteral("not in view")}});
        timeline.set_view(nullptr, AxisKind::step, {0, 100});
        timeline.set_story(QStringLiteral("the newest"));
        timeline.show();
        timeline.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&timeline));
        timeline.setFocus(Qt::TabFocusReason);
        const QStringList stories{QStringLiteral("warm-up: steps 1 to 50"), QStringLiteral("first"),
                                  QStringLiteral("training: steps 51 to 100"), QStringLiteral("second")};
        for (const QString& story : stories) {
            QTest::keyClick(&timeline, Qt::Key_Right);
            QCOMPARE(timeline.accessibleDescription(), story);
            QTRY_COMPARE(QToolTip::text(), story);
        }
        QTest::keyClick(&timeline, Qt::Key_Right); // there is none behind the last
        QCOMPARE(timeline.accessibleDescription(), stories.back());
        for (int i = 2; i >= 0; --i) {
            QTest::keyClick(&timeline, Qt::Key_Left);
            QCOMPARE(timeline.accessibleDescription(), stories[i]);
        }
        timeline.set_view(nullptr, AxisKind::step, {60, 100}); // zoomed: what is out of view is no stop
        timeline.clearFocus();
        QCOMPARE(timeline.accessibleDescription(), QStringLiteral("the newest"));
        timeline.setFocus(Qt::TabFocusReason);
        QTest::keyClick(&timeline, Qt::Key_Left);
        QCOMPARE(timeline.accessibleDescription(), QStringLiteral("second"));
        QTest::keyClick(&timeline, Qt::Key_Left);
        QCOMPARE(timeline.accessibleDescription(), stories[2]);
        QTest::keyClick(&timeline, Qt::Key_Left);
        QCOMPARE(timeline.accessibleDescription(), stories[2]);
    }

    /// Plots and timeline are one axis: whatever is in view, in any unit.
    void the_timeline_goes_with_the_plots() {
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        PlotGroup* plots = driver.window->run_page()->plots();
        auto* timeline = driver.window->run_page()->findChild<Timeline*>();
        auto* canvas = plots->loss()->findChild<QCustomPlot*>();
        const auto same = [&] {
            for (const double step : {1.0, 100.0, 378.0, 500.0, 756.0}) {
                const double position = driver.run()->clock.to_axis(plots->axis(), step);
                const QCPRange range = canvas->xAxis->range();
                const double there = (position - range.lower) / range.size();
                const double here = (timeline->column(step) - timeline->bar().left()) / timeline->bar().width();
                if (std::abs(there - here) > 1e-6)
                    return false;
            }
            return true;
        };
        QVERIFY(same());
        const double whole = timeline->column(500) - timeline->column(400);
        plots->loss()->setFocus();
        for (int i = 0; i < 5; ++i)
            QTest::keyClick(plots->loss(), Qt::Key_Plus);
        QVERIFY(timeline->column(500) - timeline->column(400) > 2 * whole);
        for (const Qt::Key key : {Qt::Key_Plus, Qt::Key_Minus, Qt::Key_Home, Qt::Key_Plus}) {
            QTest::keyClick(plots->loss(), key);
            for (const AxisKind kind : {AxisKind::epoch, AxisKind::time, AxisKind::step}) {
                plots->set_axis(kind);
                QVERIFY2(same(), QByteArray::number(static_cast<int>(kind)).constData());
            }
        }
        // what is out of view is not spoken of
        const auto story_at = [&](double x) {
            QToolTip::hideText();
            const QPoint at(static_cast<int>(std::lround(x)), static_cast<int>(timeline->bar().center().y()));
            QHelpEvent help(QEvent::ToolTip, at, timeline->mapToGlobal(at));
            QApplication::sendEvent(timeline, &help);
            return QToolTip::text();
        };
        const auto& markers = driver.run()->markers();
        const auto seen = std::ranges::find_if(markers, [&](const PlotMarker& marker) {
            return timeline->bar().left() <= timeline->column(marker.position) &&
                   timeline->column(marker.position) <= timeline->bar().right();
        });
        QVERIFY(seen != markers.end());
        QCOMPARE(story_at(timeline->column(seen->position)), seen->story);
    }
};

WATCHED_TEST_MAIN(TestTimeline)
#include "tst_timeline.moc"
