// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/idx_files.h"
#include "data/scan.h"
#include "data/thumbnails.h"
#include "texts.h"

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <map>
#include <set>

using namespace espalier;
using namespace espalier::test;

namespace {

/// A folder of 2x2 images with these labels and pixels.
class Folder {
public:
    void part(const std::string& prefix, const Bytes& labels, const Bytes& pixels) {
        const auto count = static_cast<std::uint32_t>(labels.size());
        write(path() / (prefix + "-images-idx3-ubyte"), idx_bytes({count, 2, 2}, pixels));
        write(path() / (prefix + "-labels-idx1-ubyte"), idx_bytes({count}, labels));
    }
    [[nodiscard]] std::filesystem::path path() const { return dir_.path().toStdString(); }
    [[nodiscard]] std::string spec(int classes) const {
        return "idx:" + path().string() + ",classes=" + std::to_string(classes);
    }

private:
    QTemporaryDir dir_;
};

} // namespace

class TestScan : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void builtin_is_counted() {
        std::size_t last = 0, calls = 0;
        const auto count = [&](std::size_t done, std::size_t total) {
            QVERIFY(done >= last);
            QCOMPARE(total, std::size_t{6000});
            last = done;
            ++calls;
        };
        const auto report = scan_dataset("builtin", {.progress = count, .leave = {}});
        QCOMPARE(last, std::size_t{6000});
        QVERIFY(calls > 5);
        QCOMPARE(report.total(), std::size_t{6000});
        const auto json = report.to_json();
        QCOMPARE(json.at("kind").get<std::string>(), std::string("builtin"));
        QCOMPARE(json.at("images").get<int>(), 6000);
        QCOMPARE(json.at("width").get<int>(), 28);
        QCOMPARE(json.at("height").get<int>(), 28);
        QCOMPARE(json.at("channels").get<int>(), 1);
        QCOMPARE(json.at("classes").size(), std::size_t{10});
        QCOMPARE(json.at("classes")[9].at("name").get<std::string>(), std::string("Ankle boot"));
        QCOMPARE(json.at("classes")[9].at("count").get<int>(), 600);
        QCOMPARE(json.at("classes")[9].at("validation").get<int>(), 200);
        QVERIFY(json.at("bad").empty());
        QVERIFY(report.to_text().find("Ankle boot   400  200") != std::string::npos);
    }

    void every_fault_is_listed() {
        Folder folder;
        folder.part("train", {0, 1, 7, 1, 255}, noise(20));
        write(folder.path() / "t10k-images-idx3-ubyte", bytes_of_text("<html>"));
        write(folder.path() / "t10k-labels-idx1-ubyte", idx_bytes({1}, {0}));
        const auto json = scan_dataset(folder.spec(2)).to_json();
        QCOMPARE(json.at("images").get<int>(), 3);
        QCOMPARE(json.at("bad").size(), std::size_t{3});
        QCOMPARE(json.at("bad_count").get<int>(), 3);
        const auto shortened = scan_dataset(folder.spec(2)).to_json(1);
        QCOMPARE(shortened.at("bad").size(), std::size_t{1});
        QCOMPARE(shortened.at("bad_count").get<int>(), 3);
        QVERIFY(json.at("bad")[0].at("reason").get<std::string>().find("label 7 at index 2") != std::string::npos);
        QVERIFY(json.at("bad")[2].at("reason").get<std::string>().find("web page") != std::string::npos);
    }

    void a_set_without_images_is_reported_not_thrown() {
        const auto report = scan_dataset("idx:/nowhere");
        QCOMPARE(report.total(), std::size_t{0});
        QCOMPARE(report.bad.size(), std::size_t{1});
        QVERIFY(has(report.warnings, "no image that could be used"));
        QCOMPARE(report.to_json().at("images").get<int>(), 0);
        QVERIFY_THROWS_EXCEPTION(ConfigError, (void)scan_dataset("nonsense"));
    }

    void odd_sets_are_warned_of() {
        Folder empty_class, single, uneven, blank, doubled;
        empty_class.part("train", {0, 0, 2}, noise(12));
        QVERIFY(has(scan_dataset(empty_class.spec(3)).warnings, "class '1' has no training image"));
        single.part("train", {0, 0}, noise(8));
        QVERIFY(has(scan_dataset(single.spec(1)).warnings, "Only one class"));
        uneven.part("train", Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, noise(48));
        QVERIFY(has(scan_dataset(uneven.spec(2)).warnings, "largest has 11 images, the smallest 1"));
        blank.part("train", {0, 1}, {5, 5, 5, 5, 1, 2, 3, 4});
        QVERIFY(has(scan_dataset(blank.spec(2)).warnings, "single colour throughout: 1 image."));
        doubled.part("train", {0, 1, 0}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4});
        doubled.part("t10k", {0, 1}, {1, 2, 3, 4, 9, 9, 9, 8});
        const auto report = scan_dataset(doubled.spec(2));
        QVERIFY(has(report.warnings, "Repeated within the training part: 1 image."));
        QVERIFY(has(report.warnings, "In the training part and in the test part: 1 image."));
        Folder good;
        good.part("train", {0, 1, 0, 1}, noise(16));
        QVERIFY(scan_dataset(good.spec(2)).warnings.empty());
    }

    void can_be_cancelled() {
        std::stop_source stop;
        try {
            const auto stop_at_1000 = [&](std::size_t done, std::size_t) {
                if (done >= 1000)
                    stop.request_stop();
                QVERIFY(done <= 1000);
            };
            (void)scan_dataset("builtin", {.progress = stop_at_1000, .leave = [&] { return stop.stop_requested(); }});
            QFAIL("expected to be cancelled");
        } catch (const Error& error) {
            QCOMPARE(error.code(), ExitCode::stopped);
        }
    }

    void thumbnails_take_the_classes_in_turn() {
        const auto set = open_dataset("builtin");
        const auto shown = thumbnails(*set, 25, 96);
        QCOMPARE(shown.size(), std::size_t{25});
        std::map<std::string, int> labels;
        std::set<std::string> files;
        for (const auto& thumbnail : shown) {
            ++labels[thumbnail.label];
            files.insert(thumbnail.file);
            QCOMPARE(thumbnail.image.shape, set->image());
        }
        QCOMPARE(labels.size(), std::size_t{10});
        for (const auto& [label, count] : labels)
            QVERIFY(count == 2 || count == 3);
        QCOMPARE(files.size(), std::size_t{25});
        QCOMPARE(thumbnails(*set, 25, 96)[7].image.pixels, shown[7].image.pixels);
        QVERIFY(thumbnails(*set, 25, 96, 2)[7].file != shown[7].file);
    }

    void thumbnails_are_shrunk_and_never_more_than_there_are() {
        const auto shown = thumbnails(*open_dataset("synthetic:5x40x20,3,7"), 100, 10);
        QCOMPARE(shown.size(), std::size_t{7});
        QCOMPARE(shown[0].image.shape, (ImageShape{3, 10, 5}));
        QCOMPARE(shown[0].image.pixels.size(), std::size_t{150});
        QCOMPARE(thumbnails(*open_dataset("synthetic:2x4x4,3,7"), 1, 10)[0].image.shape.channels, std::int64_t{1});
    }
};

QTEST_GUILESS_MAIN(TestScan)
#include "tst_scan.moc"
