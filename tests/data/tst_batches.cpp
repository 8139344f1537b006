// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/batches.h"

#include <QTest>
#include <algorithm>

using namespace espalier;

class TestBatches : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// 1201 images in batches of 4: the one left over must not become a batch of one.
    void a_remainder_of_one_is_shared_out() {
        const Batches batches(1201, 4, Batches::Use::training);
        QCOMPARE(batches.count(), std::int64_t{301});
        QCOMPARE(batches[298].count, std::size_t{4});
        QCOMPARE(batches[299].count, std::size_t{3});
        QCOMPARE(batches[300].count, std::size_t{2});
        QCOMPARE(batches.sizes(), (std::vector<std::int64_t>{4, 3, 2}));
        const auto note = last_batch_note(1201, 4);
        QVERIFY(note.find("1201 images in batches of 4 leave 1 over") != std::string::npos);
        QVERIFY(note.find("3 and 2") != std::string::npos);
    }

    void every_size_keeps_the_rule() {
        for (std::size_t images = 1; images <= 70; ++images)
            for (std::int64_t batch = 1; batch <= static_cast<std::int64_t>(images); ++batch) {
                const Batches batches(images, batch, Batches::Use::training);
                std::size_t at = 0;
                std::vector<std::int64_t> sizes;
                for (std::int64_t i = 0; i < batches.count(); ++i) {
                    QCOMPARE(batches[i].first, at);
                    at += batches[i].count;
                    QVERIFY(batches[i].count <= static_cast<std::size_t>(batch));
                    QVERIFY(2 * batches[i].count >= static_cast<std::size_t>(batch));
                    QVERIFY(batch == 1 || batches[i].count >= 2);
                    sizes.push_back(static_cast<std::int64_t>(batches[i].count));
                }
                QCOMPARE(at, batch == 2 ? images / 2 * 2 : images);
                sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
                QCOMPARE(batches.sizes(), sizes);
                QCOMPARE(last_batch_note(images, batch).empty(), images % static_cast<std::size_t>(batch) == 0);
            }
    }

    void evaluation_takes_every_image_once() {
        for (std::size_t images = 0; images <= 40; ++images)
            for (std::int64_t batch = 1; batch <= 50; ++batch) {
                const Batches batches(images, batch, Batches::Use::evaluation);
                std::size_t at = 0;
                for (std::int64_t i = 0; i < batches.count(); ++i) {
                    QCOMPARE(batches[i].first, at);
                    QVERIFY(batches[i].count > 0);
                    at += batches[i].count;
                }
                QCOMPARE(at, images);
            }
    }

    void a_batch_larger_than_the_set_is_told() {
        const auto fitted = fitted_batch(100, 128);
        QCOMPARE(fitted.batch, std::int64_t{100});
        QVERIFY(fitted.note.find("128") != std::string::npos && fitted.note.find("100") != std::string::npos);
        QCOMPARE(fitted_batch(128, 128).batch, std::int64_t{128});
        QVERIFY(fitted_batch(128, 128).note.empty());
        QVERIFY_THROWS_EXCEPTION(DataError, (void)fitted_batch(1, 4));
        QVERIFY_THROWS_EXCEPTION(ConfigError, (void)fitted_batch(10, 0));
        QVERIFY_THROWS_EXCEPTION(ConfigError, (void)Batches(100, 128, Batches::Use::training));
        QVERIFY_THROWS_EXCEPTION(ConfigError, (void)Batches(100, -1, Batches::Use::evaluation));
    }

    void order_is_a_permutation_of_seed_and_epoch() {
        const auto order = epoch_order(1000, 3, 5);
        auto sorted = order;
        std::ranges::sort(sorted);
        for (std::uint32_t i = 0; i < 1000; ++i)
            QCOMPARE(sorted[i], i);
        QCOMPARE(epoch_order(1000, 3, 5), order);
        QVERIFY(epoch_order(1000, 3, 6) != order);
        QVERIFY(epoch_order(1000, 4, 5) != order);
    }

    /// Checkpoints rely on the order: a change of it would change what a resumed run sees.
    void order_does_not_change_between_versions() {
        QCOMPARE(epoch_order(8, 1, 0), (std::vector<std::uint32_t>{1, 6, 2, 5, 3, 7, 4, 0}));
    }
};

QTEST_GUILESS_MAIN(TestBatches)
#include "tst_batches.moc"
