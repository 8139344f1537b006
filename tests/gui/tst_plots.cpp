// SPDX-License-Identifier: GPL-3.0-or-later
// What a person does with the plots of a run, over the whole window: zoom, crosshair, axes, smoothing, markers, export.
#include "format.h"
#include "plot_exports.h"
#include "plot_group.h"
#include "plot_ticker.h"
#include "sample_run.h"
#include "watched_test.h"
#include "window_driver.h"

#include <qcustomplot.h>

#include <QApplication>
#include <QFile>
#include <QFileDialog>
#include <QHelpEvent>
#include <QImage>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSet>
#include <QSignalSpy>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QToolTip>
#include <QWheelEvent>
#include <cmath>
#include <limits>
#include <memory>

using namespace espalier;
using namespace espalier::test;

namespace {

const QString engine = QStringLiteral(FAKE_SERVE);

QCustomPlot* canvas(LivePlot* plot) { return plot->findChild<QCustomPlot*>(); }

QPoint middle(LivePlot* plot) { return canvas(plot)->axisRect()->rect().center(); }

void turn_wheel(LivePlot* plot, int notches) {
    QCustomPlot* at = canvas(plot);
    const QPointF here = middle(plot);
    QWheelEvent event(here, at->mapToGlobal(here), {}, {0, 120 * notches}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(at, &event);
}

/// Opens the menu of a button by a click and takes the entry with that text.
bool choose(QPushButton* button, const QString& text) {
    QMenu* menu = button->menu();
    bool taken = false;
    QTimer::singleShot(0, menu, [&] {
        for (QAction* action : menu->actions())
            if (action->text() == text) {
                QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
                taken = true;
            }
        menu->close();
    });
    QTest::mouseClick(button, Qt::LeftButton);
    return taken;
}

/// Types the file's name and presses Enter.
void save_as(QFileDialog* dialog, const QString& file) {
    auto* name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
    name->setText(file);
    QTest::keyClick(name, Qt::Key_Return);
}

bool has_colour(const QImage& image, const QColor& colour) {
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            if (image.pixelColor(x, y) == colour)
                return true;
    return false;
}

/// The finished run of before, all of its 756 steps there.
bool open_finished(WindowDriver& driver) {
    auto* list = driver.find<QListWidget>(QStringLiteral("runList"));
    if (!QTest::qWaitFor([&] { return list->count() >= 2; }))
        return false;
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(0)).center());
    return driver.wait_for_state(RunState::finished);
}

} // namespace

class TestPlots : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() { Theme::install(Theme::Mode::light); } // for plots without a window

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

    void a_logarithmic_axis_says_what_it_cannot_show() {
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

        LivePlot plot(QStringLiteral("Loss"), Measure::plain);
        MetricSeries series;
        for (int i = 0; i < 50; ++i)
            series.append(i, i == 20 || (i > 30 && i < 35) ? 0.0F : 0.5F + 0.01F * static_cast<float>(i));
        plot.set_curves({{QStringLiteral("train"), Role::series1, &series}});
        plot.set_range(0, 50, false);
        plot.resize(400, 200);
        plot.show();
        plot.set_logarithmic(true);
        QVERIFY(plot.accessibleDescription().contains(QStringLiteral("0 or below")));
        const auto data = canvas(&plot)->graph(0)->data();
        int gaps = 0;
        for (const QCPGraphData& point : *data) {
            gaps += std::isnan(point.value) ? 1 : 0;
            QVERIFY(!(point.value <= 0));
        }
        QCOMPARE(gaps, 3);                                  // the stretch is one, a value alone is none
        QVERIFY(canvas(&plot)->yAxis->range().lower > 0.1); // zeros do not stretch the axis
        plot.set_logarithmic(false);
        QVERIFY(!plot.accessibleDescription().contains(QStringLiteral("0 or below")));
    }

    /// However large or small the values are, their numbers have room beside the axis, and those of one axis differ.
    void numbers_beside_an_axis_have_room_data() {
        QTest::addColumn<Measure>("measure");
        QTest::newRow("loss") << Measure::plain;
        QTest::newRow("shares") << Measure::percent;
        QTest::newRow("memory") << Measure::bytes;
        QTest::newRow("arithmetic") << Measure::count;
    }
    void numbers_beside_an_axis_have_room() {
        QFETCH(Measure, measure);
        const QFontMetrics metrics(Theme::instance().font(TextSize::small));
        LivePlot plot(QStringLiteral("Any"), measure);
        plot.resize(460, 220);
        plot.show();
        const int room = canvas(&plot)->axisRect()->margins().left() - canvas(&plot)->yAxis->tickLabelPadding();
        const int most = measure == Measure::plain ? 37 : measure == Measure::percent ? 0 : 14;
        const int least = measure == Measure::plain ? -37 : 0;
        for (const double decades : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 6.0, 12.0}) {
            const bool logarithmic = decades > 0;
            if (measure == Measure::percent && decades > 3) // less than an image of thousands
                break;
            plot.set_logarithmic(logarithmic);
            for (int power = least; power <= most; ++power)
                for (const double digits : {1.0, 1.7, 2.4, 3.9, 6.0, 9.7}) {
                    const double high = digits * std::pow(10, power), low = high / std::pow(10, decades);
                    if (measure == Measure::bytes && logarithmic && low < 1000)
                        continue;
                    const QCPAxis* axis = canvas(&plot)->yAxis;
                    QVector<double> ticks;
                    QVector<QString> labels;
                    axis->ticker()->generate(QCPRange(logarithmic ? low : 0, high), screen_locale(), 'g', 3, ticks,
                                             nullptr, &labels);
                    for (const QString& label : labels)
                        QVERIFY2(metrics.horizontalAdvance(label) <= room, qPrintable(label));
                    QVERIFY2(labels.size() >= 2, qPrintable(labels.join(QLatin1Char(' '))));
                    for (qsizetype i = 1; logarithmic && i < ticks.size(); ++i) // of a plot that is 110 pixels high
                        QVERIFY2(110 * std::log(ticks[i] / ticks[i - 1]) / std::log(high / low) > metrics.ascent(),
                                 qPrintable(labels.join(QLatin1Char(' '))));
                    if (logarithmic && measure == Measure::bytes)
                        QVERIFY2(labels.back().endsWith(QLatin1Char('B')), qPrintable(labels.back()));
                    QCOMPARE(QSet<QString>(labels.begin(), labels.end()).size(), labels.size());
                }
        }
    }

    /// A plot may be low: two numbers are enough for it, but none lies on another.
    void a_low_plot_has_fewer_numbers() {
        MetricSeries series;
        for (int i = 0; i < 50; ++i)
            series.append(i, 3e5F + 5e4F * static_cast<float>(i));
        for (const Measure measure : {Measure::plain, Measure::bytes, Measure::count})
            for (const bool logarithmic : {false, true}) {
                QWidget window; // where a plot can be lower than it likes
                window.resize(400, 400);
                LivePlot plot(QStringLiteral("Any"), measure, &window);
                plot.set_curves({{QStringLiteral("train"), Role::series1, &series}});
                plot.set_range(0, 50, true);
                window.show();
                plot.set_logarithmic(logarithmic);
                for (const int height : {92, 110, 140, 200, 400}) {
                    plot.resize(400, height);
                    QTRY_COMPARE(canvas(&plot)->height(), canvas(&plot)->axisRect()->outerRect().height());
                    plot.refresh(true);
                    const QCPAxis* axis = canvas(&plot)->yAxis;
                    QVector<double> ticks;
                    axis->ticker()->generate(axis->range(), screen_locale(), 'g', 3, ticks, nullptr, nullptr);
                    QVERIFY(ticks.size() >= 2 || logarithmic);
                    const int least = QFontMetrics(axis->tickLabelFont()).ascent();
                    for (qsizetype i = 1; i < ticks.size(); ++i)
                        QVERIFY2(axis->coordToPixel(ticks[i - 1]) - axis->coordToPixel(ticks[i]) >= least,
                                 qPrintable(QStringLiteral("%1 pixels high, measure %2, logarithmic %3")
                                                .arg(height)
                                                .arg(static_cast<int>(measure))
                                                .arg(logarithmic)));
                }
            }
    }

    /// Whatever a loss can become: what has a place is drawn, what has none is marked, and the axis stays of use.
    void a_curve_of_extremes_is_drawn() {
        constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                        infinity = std::numeric_limits<float>::infinity();
        MetricSeries series;
        const std::vector<float> values{0.5F,  nan,    0,      -3,  infinity, -infinity, 1e27F,
                                        0.25F, -1e27F, 1e-30F, nan, nan,      2};
        series.append(1, values.data(), values.size());
        LivePlot plot(QStringLiteral("Loss"), Measure::plain);
        plot.set_curves({{QStringLiteral("train"), Role::series1, &series}});
        plot.resize(500, 240);
        plot.show();
        plot.set_range(0, 14, true);
        for (const bool logarithmic : {false, true, false}) {
            plot.set_logarithmic(logarithmic);
            plot.refresh(true);
            const QCPRange range = canvas(&plot)->yAxis->range();
            QVERIFY(std::isfinite(range.lower) && std::isfinite(range.upper) && range.lower < range.upper);
            QVERIFY(range.upper >= 1e27);
            QVERIFY(!logarithmic || range.lower > 0);
            QVERIFY(has_colour(plot.grab().toImage(), Theme::instance().color(Role::series1)));
            QVERIFY(has_colour(plot.grab().toImage(), Theme::instance().color(Role::fault))); // the marks
        }
    }

    void five_million_points_come_while_it_draws() { // the watchdog looks on
        MetricSeries series;
        LivePlot plot(QStringLiteral("Loss"), Measure::plain);
        plot.set_curves({{QStringLiteral("train"), Role::series1, &series}});
        plot.resize(1200, 300);
        plot.show();
        std::vector<float> batch(50000);
        for (int i = 0; i < 100; ++i) {
            for (std::size_t k = 0; k < batch.size(); ++k)
                batch[k] = k == 7 ? -0.5F : 1.0F / (1.0F + 0.0001F * static_cast<float>(k));
            series.append(1 + i * static_cast<std::int64_t>(batch.size()), batch.data(), batch.size());
            plot.set_range(0, static_cast<double>(series.size()), true);
            plot.set_logarithmic(i % 20 >= 10);
            plot.refresh();
            QCoreApplication::processEvents();
        }
        QCOMPARE(series.size(), std::size_t{5000000});
        QVERIFY(has_colour(plot.grab().toImage(), Theme::instance().color(Role::series1)));
        QVERIFY(canvas(&plot)->graph(0)->data()->size() < 20000); // as many as there are pixels for, not points
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

    void all_plots_go_into_a_file_data() {
        QTest::addColumn<QString>("suffix");
        for (const char* suffix : {"png", "svg", "pdf", "csv"})
            QTest::newRow(suffix) << QString::fromLatin1(suffix);
    }
    void all_plots_go_into_a_file() {
        QFETCH(QString, suffix);
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("all.") + suffix);
        QLocale::setDefault(QLocale(QLocale::German)); // commas between digits
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        driver.window->run_page()->redraw_plots();
        const QSize size = driver.window->run_page()->plots()->size();
        driver.key(Qt::Key_E, Qt::ControlModifier | Qt::ShiftModifier);
        auto* dialog = driver.find<QFileDialog>(QStringLiteral("exportPlots"));
        QVERIFY(dialog);
        QVERIFY(dialog->selectedFiles().value(0).contains(QStringLiteral("quick-1-plots")));
        save_as(dialog, file);
        QTRY_VERIFY(QFile::exists(file));
        auto* message = driver.find(QStringLiteral("message"));
        QTRY_VERIFY(message->isVisible());
        QVERIFY2(message->accessibleName().contains(file), qPrintable(message->accessibleName()));
        QLocale::setDefault(QLocale::system());
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        const QByteArray bytes = written.readAll();
        if (suffix == u"png") {
            const QImage image = QImage::fromData(bytes);
            QCOMPARE(image.size(), (size + QSize(16, 16)) * 2);
            const QColor curve = Theme::instance().color(Role::series1);
            int drawn = 0;
            for (int y = 0; y < image.height() / 2; ++y)
                for (int x = 0; x < image.width() / 2; ++x)
                    drawn += image.pixelColor(x, y) == curve ? 1 : 0;
            QVERIFY(drawn > 200);
        } else if (suffix == u"svg") {
            QVERIFY(QSvgRenderer(bytes).isValid());
            QVERIFY(bytes.contains("Accuracy"));
            QVERIFY(!bytes.contains("starts with the first step")); // what an empty plot says
            QVERIFY(bytes.size() > 20000);
        } else if (suffix == u"pdf") {
            QVERIFY(bytes.startsWith("%PDF"));
            QVERIFY(bytes.size() > 5000);
        } else {
            const QList<QByteArray> lines = bytes.split('\n');
            QCOMPARE(lines.size(), 756 + 2); // header, a row a step, the end
            QVERIFY2(lines[0].startsWith("step,epoch,seconds,Loss,Loss train smoothed,Loss validation,Accuracy"),
                     lines[0].constData());
            const SmoothedSeries& loss = driver.run()->loss;
            for (const int row : {1, 500, 756}) {
                const QList<QByteArray> cells = lines[row].split(',');
                QCOMPARE(cells.size(), lines[0].count(',') + 1);
                QCOMPARE(cells[0].toInt(), row);
                QCOMPARE(cells[3].toFloat(), loss.raw.value_at(static_cast<std::size_t>(row - 1)));
                QCOMPARE(cells[4].toFloat(), loss.smooth.value_at(static_cast<std::size_t>(row - 1)));
            }
            const qsizetype workspace = lines[0].split(',').indexOf("Memory workspace");
            QVERIFY(workspace > 0);
            QCOMPARE(lines[9].split(',')[workspace].toFloat(), 9 * 1024 * 1024.0F); // itself, not the sum that is drawn
            QVERIFY(lines[63].split(',')[5].toFloat() > 0);                         // evaluated at the end of an epoch
            QVERIFY(lines[62].split(',')[5].isEmpty());                             // and not before
        }
    }

    void one_plot_goes_into_a_file_and_faults_are_said() {
        const QTemporaryDir folder;
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        LivePlot* plot = driver.window->run_page()->plots()->accuracy();
        QVERIFY(choose(plot->findChild<QPushButton*>(QStringLiteral("plotMenu")), QStringLiteral("Export this plot…")));
        auto* dialog = driver.find<QFileDialog>(QStringLiteral("exportPlots"));
        QVERIFY(dialog);
        const QSize size = plot->size();
        const QString file = folder.filePath(QStringLiteral("one.png"));
        save_as(dialog, file);
        QTRY_VERIFY(QFile::exists(file));
        QCOMPARE(QImage(file).size(), size * 2);
        auto* message = driver.find(QStringLiteral("message"));
        for (const char* name : {"/no/such/folder/plot.svg", "/no/such/folder/plot.csv"}) {
            driver.window->run_page()->exports()->write({plot}, QString::fromLatin1(name));
            QTRY_VERIFY2(message->accessibleName().startsWith(QLatin1String(name) + QStringLiteral(" could not be")),
                         qPrintable(message->accessibleName()));
        }
    }
};

WATCHED_TEST_MAIN(TestPlots)
#include "tst_plots.moc"
