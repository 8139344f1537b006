// SPDX-License-Identifier: GPL-3.0-or-later
// What one plot draws by itself: the numbers beside its axis, extremes, gaps, millions of points.
#include "format.h"
#include "live_plot.h"
#include "plot_driver.h"
#include "plot_ticker.h"
#include "watched_test.h"

#include <QFontMetrics>
#include <QImage>
#include <QSet>
#include <cmath>
#include <limits>
#include <vector>

using namespace espalier;
using namespace espalier::test;

namespace {

bool has_colour(const QImage& image, const QColor& colour) {
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            if (image.pixelColor(x, y) == colour)
                return true;
    return false;
}

} // namespace

class TestPlotDrawing : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() { Theme::install(Theme::Mode::light); } // for plots without a window

    void a_logarithmic_axis_says_what_it_cannot_show() {
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
};

WATCHED_TEST_MAIN(TestPlotDrawing)
#include "tst_plot_drawing.moc"
