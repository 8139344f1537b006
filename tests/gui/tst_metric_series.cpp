// SPDX-License-Identifier: GPL-3.0-or-later
#include "metric_series.h"
#include "step_clock.h"

#include <QTest>
#include <cmath>
#include <limits>
#include <random>

using namespace espalier;

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// The plain loop that the pyramid has to agree with.
Extent plain_extent(const MetricSeries& series, double low, double high) {
    Extent extent;
    for (std::size_t i = 0; i < series.size(); ++i)
        if (static_cast<double>(series.step_at(i)) >= low && static_cast<double>(series.step_at(i)) <= high &&
            std::isfinite(series.value_at(i)))
            extent.add(series.value_at(i));
    return extent;
}

void compare(const Extent& found, const Extent& wanted) {
    QCOMPARE(found.empty, wanted.empty);
    if (!wanted.empty) {
        QCOMPARE(found.low, wanted.low);
        QCOMPARE(found.high, wanted.high);
    }
}

} // namespace

class TestMetricSeries : public QObject {
    Q_OBJECT

private slots:
    void samples_at_once_are_as_one_by_one() {
        std::mt19937 random(7);
        MetricSeries at_once, one_by_one;
        for (std::int64_t step = 3; step < 6000;) { // in two portions, the second with steps that follow each other
            std::vector<Sample> samples;
            for (int i = 0; i<777; ++i, step += step> 4000 ? 1 : 1 + random() % 5)
                samples.push_back({static_cast<double>(step), random() % 50 == 0 ? nan_value : float(random() % 1000)});
            at_once.append(samples);
            for (const Sample& sample : samples)
                one_by_one.append(std::llround(sample.step), static_cast<float>(sample.value));
        }
        at_once.append(std::vector<Sample>());
        QCOMPARE(at_once.size(), one_by_one.size());
        QCOMPARE(at_once.last_step(), one_by_one.last_step());
        for (const auto& [low, high] : {std::pair(0., 1e4), {100., 150.}, {1000., 4000.}}) {
            std::vector<Sample> a, b;
            for (const int columns : {10, 300}) {
                at_once.reduce(low, high, columns, a);
                one_by_one.reduce(low, high, columns, b);
                QCOMPARE(a.size(), b.size());
                for (std::size_t i = 0; i < a.size(); ++i) {
                    QCOMPARE(a[i].step, b[i].step);
                    QVERIFY(a[i].value == b[i].value || (std::isnan(a[i].value) && std::isnan(b[i].value)));
                }
                at_once.non_finite(low, high, columns, a);
                one_by_one.non_finite(low, high, columns, b);
                QCOMPARE(a.size(), b.size());
            }
            QCOMPARE(at_once.extent(low, high).high, one_by_one.extent(low, high).high);
        }
    }

    void agrees_with_the_plain_loop() {
        std::mt19937 random(3);
        std::normal_distribution<float> noise(0, 1);
        MetricSeries series;
        std::int64_t step = 0;
        for (int batch = 0; batch < 200; ++batch) { // batches of uneven length, with gaps between some
            std::vector<float> values(1 + random() % 97);
            for (float& value : values)
                value = random() % 50 == 0 ? nan_value : random() % 70 == 0 ? -infinity : noise(random);
            step += random() % 4 == 0 ? 5 : 0;
            series.append(step + 1, values.data(), values.size());
            step += static_cast<std::int64_t>(values.size());
        }
        for (int i = 0; i < 300; ++i) {
            const double low = static_cast<double>(random() % static_cast<unsigned>(step)),
                         high = low + static_cast<double>(random() % 3000);
            compare(series.extent(low, high), plain_extent(series, low, high));
        }
        compare(series.extent(), plain_extent(series, -1, 1e9));
    }

    void reduced_curve_shows_every_spike() {
        MetricSeries series;
        std::vector<float> values(100000, 1.0F);
        values[34567] = 50;
        values[77777] = -20;
        series.append(1, values.data(), values.size());
        std::vector<Sample> samples;
        series.reduce(0, 100001, 500, samples);
        QVERIFY(samples.size() <= 4 * 500 + 4);
        double low = 0, high = 0;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            low = std::min(low, samples[i].value);
            high = std::max(high, samples[i].value);
            QVERIFY(i == 0 || samples[i].step >= samples[i - 1].step);
        }
        QCOMPARE(high, 50.0);
        QCOMPARE(low, -20.0);
        QCOMPARE(samples.front().step, 1.0);
        QCOMPARE(samples.back().step, 100000.0);
    }

    void few_samples_come_out_as_they_are() {
        MetricSeries series;
        for (int i = 0; i < 50; ++i)
            series.append(i * 3, static_cast<float>(i));
        std::vector<Sample> samples;
        series.reduce(30, 60, 200, samples);
        QCOMPARE(samples.front().step, 27.0); // one neighbour on each side, so that the line enters and leaves
        QCOMPARE(samples.back().step, 63.0);
        QCOMPARE(samples.size(), std::size_t{13});
    }

    void not_finite_values_are_marked_at_any_zoom() {
        MetricSeries series;
        std::vector<float> values(40000, 0.5F);
        values[10] = nan_value;
        values[20000] = infinity;
        for (std::size_t i = 30000; i < 40000; ++i)
            values[i] = nan_value;
        series.append(1, values.data(), values.size());
        std::vector<Sample> marks;
        series.non_finite(0, 50000, 100, marks);
        QVERIFY(marks.size() >= 3 && marks.size() <= 100);
        QCOMPARE(marks[0].step, 11.0);
        QVERIFY(std::isnan(marks[0].value));
        QVERIFY(std::isinf(marks[1].value));
        std::vector<Sample> samples;
        series.reduce(0, 50000, 100, samples);
        bool gap = false;
        for (const Sample& sample : samples)
            gap = gap || std::isnan(sample.value);
        QVERIFY(gap); // a whole stretch without a number breaks the line
        QCOMPARE(series.extent().high, 0.5);
    }

    void resume_takes_steps_back() {
        MetricSeries series, wanted;
        std::mt19937 random(5);
        for (int i = 1; i <= 5000; ++i)
            series.append(i, static_cast<float>(random() % 1000));
        series.truncate_after(1234);
        QCOMPARE(series.last_step(), std::int64_t{1234});
        for (std::size_t i = 0; i < series.size(); ++i)
            wanted.append(series.step_at(i), series.value_at(i));
        for (int i = 1235; i <= 4000; ++i) {
            series.append(i, static_cast<float>(i));
            wanted.append(i, static_cast<float>(i));
        }
        for (double low = 0; low < 4000; low += 173)
            compare(series.extent(low, low + 500), wanted.extent(low, low + 500));
        series.append(100, 7.0F); // an earlier step takes back what is behind it
        QCOMPARE(series.last_step(), std::int64_t{100});
        QCOMPARE(series.size(), std::size_t{100});
    }

    void consecutive_steps_cost_only_their_values() {
        MetricSeries series;
        std::vector<float> values(1000000);
        series.append(1, values.data(), values.size());
        QVERIFY(series.bytes() < 9000000); // 4 bytes a value, and the pyramid of 12 bytes for each 3
    }

    void clock_turns_steps_into_epochs_and_time() {
        StepClock clock;
        clock.set_steps_per_epoch(100);
        clock.add(50, 0.5, 10);
        clock.add(150, 1.5, 40);
        QCOMPARE(clock.to_axis(AxisKind::time, 100), 25.0);
        QCOMPARE(clock.to_axis(AxisKind::epoch, 100), 1.0);
        QCOMPARE(clock.to_step(AxisKind::time, 25), 100.0);
        QCOMPARE(clock.to_axis(AxisKind::epoch, 300), 3.0); // beyond the last point
        clock.truncate_after(60);
        QCOMPARE(clock.seconds(), 10.0);
        clock.add(70, 0.7, 12);
        QCOMPARE(clock.to_step(AxisKind::time, 11), 60.0);
    }
};

QTEST_GUILESS_MAIN(TestMetricSeries)
#include "tst_metric_series.moc"
