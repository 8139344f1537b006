// SPDX-License-Identifier: Apache-2.0
#include "train/schedule.h"

#include <QtTest>
#include <numbers>

using namespace espalier;

class TestSchedule : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void constant_stays();
    void warmup_rises_in_equal_steps();
    void cosine_follows_its_formula();
    void step_multiplies_at_its_epochs();
    void steps_beyond_the_end_keep_the_last_value();
};

void TestSchedule::constant_stays() {
    const ScheduleConfig schedule{.kind = "constant"};
    for (int step : {0, 1, 99, 1'000'000})
        QCOMPARE(learning_rate_at(schedule, 0.3, step, 10, 5), 0.3);
}

void TestSchedule::warmup_rises_in_equal_steps() {
    const ScheduleConfig schedule{.kind = "constant", .warmup_epochs = 1.5};
    const double first = learning_rate_at(schedule, 1.0, 0, 10, 5);
    QVERIFY(first > 0);
    for (int step = 0; step < 15; ++step)
        QVERIFY(std::abs(learning_rate_at(schedule, 1.0, step, 10, 5) - (step + 1) * first) < 1e-12);
    QVERIFY(learning_rate_at(schedule, 1.0, 14, 10, 5) < 1.0);
    QCOMPARE(learning_rate_at(schedule, 1.0, 15, 10, 5), 1.0);
}

void TestSchedule::cosine_follows_its_formula() {
    const ScheduleConfig schedule{.kind = "cosine", .warmup_epochs = 1, .minimum = 0.01};
    // 4 epochs of 10 steps, the first of them warm-up: 30 steps of half a cosine.
    for (int step = 10; step < 40; ++step) {
        const double expected = 0.01 + 0.09 * 0.5 * (1 + std::cos(std::numbers::pi * (step - 10) / 30.0));
        QVERIFY(std::abs(learning_rate_at(schedule, 0.1, step, 10, 4) - expected) < 1e-15);
    }
    QCOMPARE(learning_rate_at(schedule, 0.1, 10, 10, 4), 0.1);
}

void TestSchedule::step_multiplies_at_its_epochs() {
    const ScheduleConfig schedule{.kind = "step", .step_epochs = {2, 3.5}, .gamma = 0.1};
    QCOMPARE(learning_rate_at(schedule, 1.0, 19, 10, 9), 1.0);
    QCOMPARE(learning_rate_at(schedule, 1.0, 20, 10, 9), 0.1);
    QCOMPARE(learning_rate_at(schedule, 1.0, 34, 10, 9), 0.1);
    QVERIFY(std::abs(learning_rate_at(schedule, 1.0, 35, 10, 9) - 0.01) < 1e-15);
}

void TestSchedule::steps_beyond_the_end_keep_the_last_value() {
    const ScheduleConfig schedule{.kind = "cosine", .minimum = 0.02};
    QVERIFY(std::abs(learning_rate_at(schedule, 0.1, 50, 10, 5) - 0.02) < 1e-15);
    QVERIFY(std::abs(learning_rate_at(schedule, 0.1, 5000, 10, 5) - 0.02) < 1e-15);
    // A run that is warm-up alone never divides by nothing.
    const ScheduleConfig all_warmup{.kind = "cosine", .warmup_epochs = 5};
    QVERIFY(std::isfinite(learning_rate_at(all_warmup, 0.1, 50, 10, 5)));
}

QTEST_GUILESS_MAIN(TestSchedule)
#include "tst_schedule.moc"
