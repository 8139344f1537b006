// SPDX-License-Identifier: Apache-2.0
// Why a card cannot be used, without a card: CUDA's answers are put in.
#include "backends/cuda/device_reasons.h"

#include <QtTest>

using namespace espalier::cuda;

class TestGpuReasons : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void an_old_card_is_refused_by_its_capability() {
        QVERIFY(served("NVIDIA H100", 9, 0));
        QVERIFY(served("NVIDIA RTX 2080", 7, 5));
        const auto old = served("Tesla V100", 7, 0);
        QVERIFY(!old);
        QCOMPARE(old.reason, "Tesla V100 has compute capability 7.0, but CUDA 13 needs at least 7.5.");
    }

    void a_card_without_kernels_is_told_from_a_broken_one() {
        const auto missing = kernel_reason("NVIDIA X", 209, "The GPU failed: no kernel image is available.");
        QCOMPARE(missing, "This release has no kernels for NVIDIA X (CUDA error 209): a newer one may.");
        const auto broken =
            kernel_reason("NVIDIA X", 999, "The GPU failed: unknown error (CUDA error 999, in cudaMalloc).");
        QVERIFY(broken.starts_with("A test kernel on NVIDIA X failed: ") && broken.find("999") != std::string::npos);
    }

    void no_card_has_one_reason_data() {
        QTest::addColumn<int>("error");
        QTest::addColumn<QString>("served_version");
        QTest::addColumn<QString>("visible");
        QTest::addColumn<QString>("reason");
        QTest::newRow("no driver") << 35 << "" << QString() << "No NVIDIA driver is installed.";
        QTest::newRow("old driver")
            << 35 << "12.2" << QString()
            << "The NVIDIA driver is too old: it serves CUDA 12.2, and CUDA 13.0 (driver 580 or "
               "newer) is needed.";
        QTest::newRow("none") << 100 << "13.0" << QString()
                              << "There is no NVIDIA GPU in this machine, or its driver is not loaded.";
        QTest::newRow("hidden") << 100 << "13.0"
                                << "-1"
                                << "No NVIDIA GPU is visible: CUDA_VISIBLE_DEVICES is \"-1\".";
        QTest::newRow("hidden by nothing") << 100 << "13.0"
                                           << ""
                                           << "No NVIDIA GPU is visible: CUDA_VISIBLE_DEVICES is \"\".";
        QTest::newRow("mismatch") << 803 << "13.0" << QString()
                                  << "The NVIDIA driver was updated and not loaded anew: restart the machine (CUDA "
                                     "error 803).";
        QTest::newRow("unknown") << 999 << "13.0" << QString() << "CUDA does not start: some text (CUDA error 999).";
    }
    void no_card_has_one_reason() {
        QFETCH(int, error);
        QFETCH(QString, served_version);
        QFETCH(QString, visible);
        QFETCH(QString, reason);
        const auto text = visible.toStdString();
        QCOMPARE(QString::fromStdString(no_device_reason(error, "some text", served_version.toStdString(), "13.0",
                                                         visible.isNull() ? nullptr : text.c_str())),
                 reason);
    }
};

QTEST_APPLESS_MAIN(TestGpuReasons)
#include "tst_gpu_reasons.moc"
