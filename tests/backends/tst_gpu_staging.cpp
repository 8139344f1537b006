// SPDX-License-Identifier: Apache-2.0
// Host memory on the way to a card and back, with copies that are pretended and as late as they may be.
#include "backends/cuda/staging.h"
#include "backends/fake_copies.h"
#include "backends/fake_cuda.h"

#include <QtTest>
#include <algorithm>
#include <cstring>

using namespace espalier;
using namespace espalier::cuda;
using namespace espalier::test;

namespace {

using Bytes = std::vector<std::byte>;

Bytes values(std::size_t count, int first) {
    Bytes bytes(count);
    std::ranges::generate(bytes, [&] { return static_cast<std::byte>(first++); });
    return bytes;
}

/// More uploads than there are buffers, of sizes that grow and shrink; each to a place of its own.
struct Uploads {
    std::vector<Bytes> sent, places;

    Uploads() {
        for (int i = 0; i < 40; ++i) {
            sent.push_back(values(static_cast<std::size_t>(1 + i * 37 % 101), i));
            places.emplace_back(sent.back().size());
        }
    }
    void forget() {
        for (auto& place : places)
            std::ranges::fill(place, std::byte{0xff});
    }
    void enqueue(Staging& staging) {
        for (std::size_t i = 0; i < sent.size(); ++i)
            staging.upload(places[i].data(), sent[i].size(),
                           [&](std::byte* buffer) { std::ranges::copy(sent[i], buffer); });
    }
};

Bytes downloaded(Staging& staging, const Bytes& from) {
    Bytes bytes;
    staging.download(from.data(), from.size(),
                     [&](const std::byte* buffer) { bytes.assign(buffer, buffer + from.size()); });
    return bytes;
}

} // namespace

class TestGpuStaging : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { fake_copies::begin(); }

    void what_is_on_its_way_is_not_written_over_data() {
        QTest::addColumn<bool>("pinned");
        QTest::newRow("pinned") << true;
        QTest::newRow("no pinned memory left") << false;
    }
    void what_is_on_its_way_is_not_written_over() {
        QFETCH(bool, pinned);
        fake_copies::gives_pinned = pinned;
        Uploads uploads;
        Staging staging(nullptr);
        uploads.enqueue(staging);
        QVERIFY(uploads.places.back() != uploads.sent.back()); // nobody has waited for it
        QCOMPARE(downloaded(staging, uploads.places.back()), uploads.sent.back());
        QCOMPARE(uploads.places, uploads.sent);
        QCOMPARE(staging.was_pageable(), !pinned);
        QCOMPARE(fake_cuda::kept, cudaSuccess); // want of pinned memory is no fault of the next kernel
    }

    void all_memory_can_be_given_back() {
        Uploads uploads;
        {
            Staging staging(nullptr);
            uploads.enqueue(staging);
            QVERIFY(fake_copies::pinned > 1);
            staging.trim();
            QCOMPARE(fake_copies::pinned, 0);
            QCOMPARE(uploads.places, uploads.sent);
            uploads.forget();
            uploads.enqueue(staging);
        }
        QCOMPARE(fake_copies::pinned, 0);
        QCOMPARE(fake_copies::events, 0);
        QCOMPARE(uploads.places, uploads.sent);
    }

    void a_download_is_there_when_its_copy_has_run() {
        auto device = values(50, 1);
        const auto first = device;
        HostDownload download(nullptr, device.size());
        download.start(device.data());
        QVERIFY(!download.ready());
        QCOMPARE(fake_cuda::kept, cudaSuccess); // that it is not there yet is no fault
        fake_copies::run();
        QVERIFY(download.ready());
        device = values(50, 7);
        QCOMPARE(std::memcmp(download.wait(), first.data(), first.size()), 0);
        download.start(device.data());
        QCOMPARE(std::memcmp(download.wait(), device.data(), device.size()), 0);
    }

    void a_call_that_fails_leaves_nothing_behind() {
        Uploads uploads;
        const auto bytes = values(20, 3);
        int failing = 1;
        for (bool failed = true; failed; ++failing) {
            fake_copies::begin(failing);
            failed = false;
            try {
                Staging staging(nullptr);
                uploads.enqueue(staging);
                HostDownload download(nullptr, bytes.size());
                download.start(bytes.data());
                QCOMPARE(downloaded(staging, bytes), bytes);
                QVERIFY(download.ready());
                (void)download.wait();
                staging.trim();
                fake_copies::failing = 0; // the end may not fail
            } catch (const DeviceError&) {
                failed = true;
            }
            QCOMPARE(fake_copies::pinned, 0);
            QCOMPARE(fake_copies::events, 0);
            QVERIFY(!failed || fake_cuda::kept == cudaSuccess);
        }
        QVERIFY(failing > 100);
    }
};

QTEST_APPLESS_MAIN(TestGpuStaging)
#include "tst_gpu_staging.moc"
