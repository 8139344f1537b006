// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/loader.h"

#include <QTest>
#include <atomic>
#include <chrono>
#include <set>

using namespace espalier;

namespace {

/// Images whose pixels are their index; slow or broken on demand.
class ProbeDataset final : public Dataset {
public:
    explicit ProbeDataset(std::size_t count)
        : Dataset({.spec = "probe", .kind = "probe", .classes = {"a", "b", "c"}, .image = {1, 2, 2}}), count_(count) {}

    std::size_t size(Part) const override { return count_; }
    std::int32_t label(Part, std::size_t index) const override { return static_cast<std::int32_t>(index % 3); }
    void read(Part part, std::size_t index, std::span<std::uint8_t> out) const override {
        ++reads;
        std::this_thread::sleep_for(delay);
        if (index == broken)
            throw DataError("'" + file(part, index) + "' is broken.");
        std::ranges::fill(out, static_cast<std::uint8_t>(index));
    }
    std::string file(Part, std::size_t index) const override { return "probe " + std::to_string(index); }
    std::string content_hash() const override { return "probe"; }

    mutable std::atomic<std::size_t> reads = 0;
    std::chrono::microseconds delay{0};
    std::atomic<std::size_t> broken = SIZE_MAX; ///< changed while threads read

private:
    std::size_t count_;
};

LoaderSettings settings_for(std::int64_t batch, int threads = 1, int prefetch = 3) {
    LoaderSettings settings;
    settings.batch = batch;
    settings.threads = threads;
    settings.prefetch = prefetch;
    settings.augmentation = {.crop = 1, .flip = true};
    settings.statistics = {{0.4}, {0.2}};
    return settings;
}

struct Seen {
    std::int64_t epoch, index;
    std::vector<float> images;
    std::vector<std::int32_t> labels;
    std::vector<std::uint32_t> samples;
    friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> all_batches(Loader& loader) {
    std::vector<Seen> seen;
    while (const auto* batch = loader.next())
        seen.push_back({batch->epoch, batch->index, batch->images, batch->labels, batch->samples});
    return seen;
}

} // namespace

class TestLoader : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void threads_change_nothing() {
        const auto data = std::make_shared<ProbeDataset>(101);
        Loader one(all_of(data, Part::train), settings_for(8));
        one.start(0, 0, 3);
        const auto expected = all_batches(one);
        QCOMPARE(expected.size(), static_cast<std::size_t>(3 * one.batches_per_epoch()));
        for (const auto& [threads, prefetch] : {std::pair{2, 1}, {4, 2}, {3, 9}}) {
            Loader many(all_of(data, Part::train), settings_for(8, threads, prefetch));
            many.start(0, 0, 3);
            QVERIFY(all_batches(many) == expected);
        }
    }

    void every_epoch_holds_every_image_once() {
        const auto data = std::make_shared<ProbeDataset>(101);
        Loader loader(all_of(data, Part::train), settings_for(8, 2));
        loader.start(0, 0, 2);
        std::vector<std::multiset<std::uint32_t>> epochs(2);
        std::vector<std::vector<std::uint32_t>> orders(2);
        for (const auto& batch : all_batches(loader))
            for (std::size_t i = 0; i < batch.samples.size(); ++i) {
                const auto epoch = static_cast<std::size_t>(batch.epoch);
                epochs[epoch].insert(batch.samples[i]);
                orders[epoch].push_back(batch.samples[i]);
                QCOMPARE(batch.labels[i], static_cast<std::int32_t>(batch.samples[i] % 3));
            }
        for (const auto& epoch : epochs) {
            QCOMPARE(epoch.size(), std::size_t{101});
            QCOMPARE(std::set<std::uint32_t>(epoch.begin(), epoch.end()).size(), std::size_t{101});
        }
        QVERIFY(orders[0] != orders[1]);
    }

    void resuming_anywhere_gives_the_same_sequence() {
        const auto data = std::make_shared<ProbeDataset>(45);
        Loader loader(all_of(data, Part::train), settings_for(4, 2));
        loader.start(0, 0, 3);
        const auto expected = all_batches(loader);
        for (std::size_t at = 0; at < expected.size(); ++at) {
            loader.start(expected[at].epoch, expected[at].index, 3);
            const auto rest = all_batches(loader);
            QVERIFY(std::equal(rest.begin(), rest.end(), expected.begin() + static_cast<std::ptrdiff_t>(at),
                               expected.end()));
        }
    }

    void evaluation_is_in_order_and_plain() {
        const auto data = std::make_shared<ProbeDataset>(10);
        auto settings = settings_for(4);
        settings.use = Batches::Use::evaluation;
        settings.statistics = {{0}, {1.0 / 255}};
        Loader loader(all_of(data, Part::train), settings);
        loader.start(0, 0, 1);
        const auto seen = all_batches(loader);
        QCOMPARE(seen.size(), std::size_t{3});
        QCOMPARE(seen[2].samples, (std::vector<std::uint32_t>{8, 9}));
        QCOMPARE(std::lround(seen[2].images[0]), 8L);
        QCOMPARE(seen[2].images.size(), std::size_t{8});
    }

    void an_evaluation_batch_may_be_larger_than_the_set() {
        auto settings = settings_for(64);
        settings.use = Batches::Use::evaluation;
        Loader loader(all_of(std::make_shared<ProbeDataset>(10), Part::train), settings);
        loader.start(0, 0, 1);
        QCOMPARE(loader.next()->count, std::int64_t{10});
        QVERIFY(!loader.next());
    }

    void a_slow_consumer_holds_the_threads_back() {
        const auto data = std::make_shared<ProbeDataset>(1000);
        Loader loader(all_of(data, Part::train), settings_for(10, 2, 2));
        loader.start(0, 0, 1);
        (void)loader.next();
        QTest::qWait(100);
        QCOMPARE(data->reads.load(), std::size_t{30}); // the one in use and two ahead
        (void)loader.next();
        QTRY_COMPARE(data->reads.load(), std::size_t{40});
    }

    void an_error_arrives_in_its_place() {
        const auto data = std::make_shared<ProbeDataset>(40);
        auto settings = settings_for(4, 3);
        settings.use = Batches::Use::evaluation;
        data->broken = 9;
        Loader loader(all_of(data, Part::train), settings);
        loader.start(0, 0, 1);
        QCOMPARE(loader.next()->index, std::int64_t{0});
        QCOMPARE(loader.next()->index, std::int64_t{1});
        for (int i = 0; i < 2; ++i)
            try {
                (void)loader.next();
                QFAIL("expected DataError");
            } catch (const DataError& error) {
                QCOMPARE(std::string(error.what()), std::string("'probe 9' is broken."));
            }
        data->broken = SIZE_MAX;
        loader.start(0, 2, 1);
        QCOMPARE(loader.next()->index, std::int64_t{2});
    }

    void stops_at_any_moment() {
        const auto data = std::make_shared<ProbeDataset>(10'000);
        data->delay = std::chrono::microseconds(200);
        Loader loader(all_of(data, Part::train), settings_for(5000, 2)); // a batch takes a second
        for (int wait : {0, 1, 5, 20}) {
            loader.start(0, 0, 5);
            QTest::qSleep(wait + 1);
            const auto before = data->reads.load();
            loader.stop();
            QVERIFY(data->reads.load() - before <= 4); // each thread finished its image, and no more
            QVERIFY(!loader.next());
        }
        loader.start(0, 0, 1); // the destructor stops too
    }

    void waiting_for_a_slow_batch_can_be_left_and_gone_on_with() {
        const auto data = std::make_shared<ProbeDataset>(10);
        data->delay = std::chrono::milliseconds(30);
        Loader loader(all_of(data, Part::train), settings_for(5));
        loader.start(0, 0, 1);
        int asked = 0;
        QVERIFY(!loader.wait([&] { return ++asked == 1; })); // a batch takes at least 150 ms
        QVERIFY(loader.wait({}));
        QCOMPARE(loader.next()->index, std::int64_t{0});
        QCOMPARE(loader.next()->index, std::int64_t{1});
        QVERIFY(loader.wait([] { return true; })); // nothing more will come
        QVERIFY(!loader.next());
    }

    void nothing_started_gives_nothing() {
        Loader loader(all_of(std::make_shared<ProbeDataset>(10), Part::train), settings_for(4));
        QVERIFY(!loader.next());
        loader.start(2, 0, 2);
        QVERIFY(!loader.next());
    }

    void wrong_settings_are_refused() {
        const auto all = all_of(std::make_shared<ProbeDataset>(10), Part::train);
        QVERIFY_THROWS_EXCEPTION(ConfigError, Loader(all, settings_for(11)));
        QVERIFY_THROWS_EXCEPTION(ConfigError, Loader(all, settings_for(4, 0)));
        QVERIFY_THROWS_EXCEPTION(ConfigError, Loader(all, settings_for(4, 1, 0)));
    }
};

QTEST_GUILESS_MAIN(TestLoader)
#include "tst_loader.moc"
