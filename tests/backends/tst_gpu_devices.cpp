// SPDX-License-Identifier: Apache-2.0
// Which card is found, and what becomes of errors, with a runtime of CUDA that is pretended.
#include "backends/cuda/device.h"
#include "backends/cuda/error.h"
#include "backends/fake_cuda.h"

#include <QtTest>

using namespace espalier;
using namespace espalier::cuda;
using namespace espalier::test;

using fake_cuda::Card;

class TestGpuDevices : public QObject {
    Q_OBJECT

    static QString reason_of(const std::function<void()>& call) {
        try {
            call();
        } catch (const Error& error) {
            return QString::fromStdString(error.what());
        }
        return {};
    }

private Q_SLOTS:
    /// Else the next launch, which has nothing to do with it, would be blamed, and nothing could go on.
    void an_error_that_was_told_is_not_found_again_data() {
        QTest::addColumn<int>("number");
        QTest::addColumn<bool>("memory");
        QTest::newRow("memory") << static_cast<int>(cudaErrorMemoryAllocation) << true;
        QTest::newRow("launch") << static_cast<int>(cudaErrorInvalidConfiguration) << false;
        QTest::newRow("capture") << static_cast<int>(cudaErrorStreamCaptureInvalidated) << false;
    }
    void an_error_that_was_told_is_not_found_again() {
        QFETCH(int, number);
        QFETCH(bool, memory);
        fake_cuda::begin_with({});
        const auto fails = [&] { return fake_cuda::kept = static_cast<cudaError_t>(number); };
        if (memory)
            QVERIFY_THROWS_EXCEPTION(OutOfMemory, ESPALIER_CUDA(fails()));
        else
            QVERIFY_THROWS_EXCEPTION(CudaError, ESPALIER_CUDA(fails()));
        check_launch("the next kernel");
        QVERIFY(!succeeded(fails()));
        check_launch("the next kernel");
    }

    void a_card_that_fails_leaves_the_next_one_usable_data() {
        QTest::addColumn<QString>("what");
        for (const char* what : {"properties", "place", "context", "kernel"})
            QTest::newRow(what) << what;
    }
    void a_card_that_fails_leaves_the_next_one_usable() {
        QFETCH(QString, what);
        Card bad{.name = "Bad", .bus = "00000000:17:00.0"};
        (what == "properties" ? bad.properties
         : what == "place"    ? bad.place
         : what == "context"  ? bad.context
                              : bad.kernel) = cudaErrorDevicesUnavailable;
        fake_cuda::begin_with({bad, {.name = "Good", .bus = "00000000:65:00.0", .uuid = 0x22}});
        for (const auto& device : devices())
            if (device.name == "Good")
                QVERIFY2(device.usable, device.usable.reason.c_str());
            else
                QCOMPARE(device.usable.yes, what == "place"); // an unknown place is no reason
        QVERIFY(available({}));
        QCOMPARE(choose_device("GPU-22222222").name, std::string("Good"));
        QCOMPARE(fake_cuda::current, 1);
    }

    /// Each card that is tried gives up some hundred MB for a context: that of somebody else's run, perhaps.
    void a_card_that_is_named_is_the_only_one_touched() {
        fake_cuda::begin_with(
            {{.name = "First", .bus = "00000000:17:00.0"}, {.name = "Second", .bus = "00000000:65:00.0"}});
        QVERIFY(available("1"));
        QCOMPARE(choose_device("1").name, std::string("Second"));
        QCOMPARE(fake_cuda::touched, std::set<int>{1});
    }

    void cards_are_numbered_by_their_place() {
        fake_cuda::begin_with(
            {{.name = "Fast", .bus = "00000000:65:00.0"}, {.name = "Slow", .bus = "00000000:17:00.0"}});
        QCOMPARE(choose_device("0").name, std::string("Slow"));
        QCOMPARE(choose_device("1").index, 0);
    }

    void a_card_that_cannot_be_used_is_refused_with_the_reason() {
        fake_cuda::begin_with(
            {{.name = "Old", .major = 7}, {.name = "Broken", .bus = "00000000:65:00.0", .right = false}});
        QVERIFY(reason_of([] { (void)choose_device("0"); }).contains("compute capability 7.0"));
        QVERIFY(reason_of([] { (void)choose_device("1"); }).contains("Broken gave wrong numbers"));
        QVERIFY(reason_of([] { (void)choose_device("2"); }).contains("There is no GPU \"2\" here: 0 is Old"));
        for (const char* wanted : {"", "1"}) {
            const auto support = available(wanted);
            QVERIFY2(!support && support.reason.find("Broken") != std::string::npos, wanted);
        }
        QVERIFY(available("2")); // choose_device() says which there are
        fake_cuda::begin_with({{.name = "Silent", .properties = cudaErrorUnknown}});
        QVERIFY(!available({}));
        fake_cuda::begin_with({});
        QVERIFY(!available({}) && !available("0"));
        QVERIFY(devices().empty());
    }
};

QTEST_APPLESS_MAIN(TestGpuDevices)
#include "tst_gpu_devices.moc"
