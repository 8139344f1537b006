// SPDX-License-Identifier: Apache-2.0
// The `resources` event: what was computed, against what could have been, and what the device says of itself.
#include "train/layer_report.h"
#include "train/resources.h"
#include "train_support.h"

#include <QtTest>

using namespace espalier;
using namespace espalier::test;

namespace {

class FixedMonitor : public DeviceMonitor {
public:
    explicit FixedMonitor(DeviceState state) : state_(std::move(state)) {}
    [[nodiscard]] DeviceState latest() const override { return state_; }

private:
    DeviceState state_;
};

DeviceState busy_gpu() {
    DeviceState state;
    state.utilisation = 0.97;
    state.temperature = 64;
    state.power = 312;
    state.throttle = throttle::power_limit;
    state.process_memory = 3000;
    state.memory_used = 12000;
    state.memory_total = 80000;
    return state;
}

} // namespace

class TestResources : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void arithmetic_is_counted_against_its_time_and_the_peak() {
        EventLog log;
        ResourceReporter reporter(log, 4e12);
        reporter.count(1e12, 64, 0.5);
        reporter.count(1e12, 64, 0.5);
        reporter.report(7, {});
        const auto& event = log.events.at(0);
        QCOMPARE(event.at("gflops").get<double>(), 2000.0);
        QCOMPARE(event.at("mfu").get<double>(), 0.5);
        QCOMPARE(event.at("images_per_second").get<double>(), 128.0);
        reporter.report(8, {}); // nothing was computed since
        QVERIFY(!log.events.at(1).contains("gflops") && !log.events.at(1).contains("mfu"));
    }

    void without_a_known_peak_there_is_no_share_of_it() {
        EventLog log;
        ResourceReporter reporter(log);
        reporter.count(1e12, 64, 0.5);
        reporter.report(7, {});
        QVERIFY(log.events.at(0).contains("gflops") && !log.events.at(0).contains("mfu"));
    }

    void a_device_tells_what_it_knows() {
        EventLog log;
        ResourceReporter reporter(log, 0, std::make_unique<FixedMonitor>(busy_gpu()));
        reporter.report(7, {.weights = 1, .optimizer = 2, .activations = 3, .workspace = 4});
        const auto& event = log.events.at(0);
        QCOMPARE(event.at("utilisation").get<double>(), 0.97);
        QCOMPARE(event.at("temperature").get<double>(), 64.0);
        QCOMPARE(event.at("power").get<double>(), 312.0);
        QCOMPARE(event.at("throttle").get<unsigned>(), throttle::power_limit);
        QVERIFY(!event.contains("core_clock"));
        const auto& memory = event.at("memory");
        QCOMPARE(memory.at("total").get<int>(), 10);
        QCOMPARE(memory.at("process").get<int>(), 3000); // of the device: the host's is another field
        QCOMPARE(memory.at("device").get<int>(), 12000);
        QCOMPARE(memory.at("device_total").get<int>(), 80000);
        QVERIFY(!memory.contains("host") || memory.at("host").get<std::size_t>() > 1'000'000);
    }

    void the_steps_of_a_run_last_as_long_as_the_run() {
        EventLog log;
        QElapsedTimer clock;
        clock.start();
        SmallRun run({"epochs=6"});
        QCOMPARE(run.fault_of_training(log), std::string());
        const double whole = static_cast<double>(clock.nsecsElapsed()) / 1e9;
        double sum = 0;
        for (const auto& seconds : log.column("seconds")) {
            QVERIFY(seconds.get<double>() > 0);
            sum += seconds.get<double>();
        }
        QVERIFY(sum < whole);
    }

    void the_plan_tells_the_toggles_in_force() {
        EventLog log;
        SmallRun run({"epochs=1", "toggles.safe_mode=true", "toggles.recompute=true"});
        QCOMPARE(run.fault_of_training(log), std::string());
        const auto toggles = log.of_type("plan").at(0).at("toggles");
        QCOMPARE(toggles.at("precision"), Json("fp32"));
        QCOMPARE(toggles.at("fused"), Json(false)); // safe mode
        QCOMPARE(toggles.at("recompute"), Json(true));
        QCOMPARE(toggles.at("safe_mode"), Json(true));
    }

    void a_layer_names_the_kernel_that_took_longest() {
        const Graph graph;
        const std::vector<PlannedOp> ops{{.kind = "conv2d", .layer = "stem", .kernel = "direct", .milliseconds = 1},
                                         {.kind = "conv2d_weight_gradient",
                                          .layer = "stem",
                                          .kernel = "split",
                                          .stage = Stage::backward,
                                          .milliseconds = 3},
                                         {.kind = "relu", .layer = "stem", .kernel = "loop", .milliseconds = 0.5}};
        const auto rows = layer_table(graph, ops);
        QCOMPARE(rows.size(), std::size_t{1});
        QCOMPARE(rows[0].kernel, std::string("split"));
        QCOMPARE(rows[0].forward_milliseconds, 1.5);
        QCOMPARE(rows[0].backward_milliseconds, 3.0);
        QCOMPARE(profile_rows(rows)[0].at("ms").get<double>(), 4.5);
    }
};

QTEST_APPLESS_MAIN(TestResources)
#include "tst_resources.moc"
