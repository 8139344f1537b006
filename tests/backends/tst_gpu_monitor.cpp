// SPDX-License-Identifier: Apache-2.0
// What NVML tells of a GPU, over a library that stands in for it; and the peaks of cards.
#include "backends/cuda/monitor.h"
#include "backends/cuda/peak.h"
#include "base/error.h"

#include <dlfcn.h>

#include <QtTest>

using namespace espalier;

namespace {

constexpr auto library = FAKE_NVML_LIBRARY;

/// How often it was started without being shut down.
int started() {
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return -1;
    const auto count = reinterpret_cast<int (*)()>(dlsym(handle, "fake_nvml_started"));
    const int result = count ? count() : -1;
    dlclose(handle);
    return result;
}

} // namespace

class TestGpuMonitor : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void cleanup() { qunsetenv("FAKE_NVML"); }

    void values_come_in_their_units() {
        const nvml::Device device("GPU-fake", library);
        const auto state = device.sample();
        QCOMPARE(state.utilisation.value(), 0.97);
        QCOMPARE(state.temperature.value(), 64.0);
        QCOMPARE(state.power.value(), 312.4);
        QCOMPARE(state.power_limit.value(), 350.0);
        QCOMPARE(state.core_clock.value(), 1755.0);
        QCOMPARE(state.memory_clock.value(), 2619.0);
        QCOMPARE(state.throttle.value(), throttle::power_limit | throttle::temperature); // idle is no reason
        QCOMPARE(state.memory_total.value(), std::size_t{80} << 30);
        QCOMPARE(state.memory_used.value(), std::size_t{12} << 30);
        QCOMPARE(state.process_memory.value(), std::size_t{3} << 30); // of this process alone
    }

    void what_is_not_available_is_absent() {
        qputenv("FAKE_NVML", "not_supported");
        const nvml::Device device("GPU-fake", library);
        const auto state = device.sample();
        QVERIFY(!state.utilisation && !state.temperature && !state.power && !state.power_limit);
        QVERIFY(!state.core_clock && !state.memory_clock && !state.throttle);
        QVERIFY(!state.process_memory);
        QCOMPARE(state.memory_total.value(), std::size_t{8} << 30);
    }

    void a_gpu_that_is_lost_gives_nothing_and_does_no_harm() {
        const nvml::Device device("GPU-fake", library);
        qputenv("FAKE_NVML", "lost");
        const auto state = device.sample();
        QVERIFY(!state.utilisation && !state.memory_used && !state.process_memory);
        qunsetenv("FAKE_NVML");
        QVERIFY(device.sample().utilisation.has_value());
    }

    void what_cannot_be_opened_is_said() {
        QVERIFY_EXCEPTION_THROWN(nvml::Device("GPU-fake", "/no/such/libnvidia-ml.so.1"), DeviceError);
        QVERIFY_EXCEPTION_THROWN(nvml::Device("GPU-other", library), DeviceError);
        QCOMPARE(started(), 0); // it was shut down again
        qputenv("FAKE_NVML", "no_init");
        QVERIFY_EXCEPTION_THROWN(nvml::Device("GPU-fake", library), DeviceError);
        QCOMPARE(started(), 0);
    }

    void a_library_without_the_functions_is_refused() {
        QVERIFY_EXCEPTION_THROWN(nvml::Device("GPU-fake", OTHER_LIBRARY), DeviceError);
    }

    void the_monitor_samples_by_itself() {
        {
            const auto monitor =
                cuda::watch_gpu("GPU-fake", {.library = library, .distance = std::chrono::milliseconds(5)});
            QTRY_VERIFY(monitor->latest().power.has_value());
            qputenv("FAKE_NVML", "lost");
            QTRY_VERIFY(!monitor->latest().power.has_value());
            qunsetenv("FAKE_NVML");
            QTRY_COMPARE(monitor->latest().power.value_or(0), 312.4);
        }
        QCOMPARE(started(), 0);
    }

    void it_ends_at_once_however_seldom_it_samples() {
        QElapsedTimer clock;
        clock.start();
        {
            const auto monitor = cuda::watch_gpu("GPU-fake", {.library = library, .distance = std::chrono::hours(1)});
            QTRY_VERIFY(monitor->latest().power.has_value());
        }
        QVERIFY(clock.elapsed() < 60'000);
    }

    void without_nvml_the_rest_is_still_told() {
        const auto monitor =
            cuda::watch_gpu("GPU-fake", {.library = "/no/such/library",
                                         .distance = std::chrono::milliseconds(5),
                                         .complete = [](DeviceState& state) { state.memory_used = 7; }});
        QTRY_COMPARE(monitor->latest().memory_used.value_or(0), std::size_t{7});
        QVERIFY(!monitor->latest().power);
    }

    void peaks_of_known_cards_data() {
        QTest::addColumn<int>("major");
        QTest::addColumn<int>("minor");
        QTest::addColumn<int>("multiprocessors");
        QTest::addColumn<double>("megahertz");
        QTest::addColumn<QString>("precision");
        QTest::addColumn<double>("teraflops"); // as the data sheet says
        QTest::newRow("Tesla T4") << 7 << 5 << 40 << 1590.0 << "fp16" << 65.0;
        QTest::newRow("NVIDIA A100-SXM4-80GB") << 8 << 0 << 108 << 1410.0 << "bf16" << 312.0;
        QTest::newRow("NVIDIA A100-SXM4-40GB") << 8 << 0 << 108 << 1410.0 << "tf32" << 156.0;
        QTest::newRow("NVIDIA GeForce RTX 3090") << 8 << 6 << 82 << 1695.0 << "fp16" << 71.0;
        QTest::newRow("NVIDIA RTX A6000") << 8 << 6 << 84 << 1800.0 << "fp16" << 154.8;
        QTest::newRow("NVIDIA GeForce RTX 4090") << 8 << 9 << 128 << 2520.0 << "tf32" << 82.6;
        QTest::newRow("NVIDIA H100 80GB HBM3") << 9 << 0 << 132 << 1830.0 << "fp16" << 989.0;
        QTest::newRow("NVIDIA H100 80GB HBM3, fp32") << 9 << 0 << 132 << 1980.0 << "fp32" << 67.0;
        QTest::newRow("NVIDIA GeForce RTX 5090") << 12 << 0 << 170 << 2407.0 << "bf16" << 209.5;
    }
    void peaks_of_known_cards() {
        QFETCH(int, major);
        QFETCH(int, minor);
        QFETCH(int, multiprocessors);
        QFETCH(double, megahertz);
        QFETCH(QString, precision);
        QFETCH(double, teraflops);
        const auto peaks = cuda::peak_flops(major, minor, multiprocessors, megahertz * 1e6, QTest::currentDataTag());
        const double found = peaks.at(precision.toStdString()) / 1e12;
        QVERIFY2(std::abs(found - teraflops) < 0.01 * teraflops, qPrintable(QString::number(found)));
    }

    void an_unknown_card_or_type_has_no_peak() {
        QVERIFY(cuda::peak_flops(99, 0, 100, 1e9, "NVIDIA Future").empty());
        QVERIFY(!cuda::peak_flops(7, 5, 40, 1.59e9, "Tesla T4").contains("bf16"));
    }
};

QTEST_GUILESS_MAIN(TestGpuMonitor)
#include "tst_gpu_monitor.moc"
