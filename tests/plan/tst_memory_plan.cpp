// SPDX-License-Identifier: Apache-2.0
#include "plan/memory_plan.h"

#include <QtTest>
#include <algorithm>
#include <random>

using namespace espalier;

namespace {

std::size_t peak(const std::vector<Lifetime>& lifetimes, std::size_t steps) {
    return std::ranges::max(live_bytes(lifetimes, steps));
}

/// Whether two lifetimes that meet in time also meet in memory.
bool collide(const Lifetime& a, std::size_t a_offset, const Lifetime& b, std::size_t b_offset) {
    const bool in_time = a.first <= b.last && b.first <= a.last;
    return in_time && a_offset < b_offset + b.bytes && b_offset < a_offset + a.bytes;
}

} // namespace

class MemoryPlanTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void nothing_needs_nothing() { QCOMPARE(plan_memory({}).bytes, std::size_t{0}); }

    void a_chain_needs_two_buffers() {
        std::vector<Lifetime> lifetimes;
        for (std::int32_t i = 0; i < 10; ++i)
            lifetimes.push_back({1000, i, i + 1});
        QCOMPARE(plan_memory(lifetimes).bytes, 2 * align_up(1000));
    }

    void a_gap_is_filled_by_what_fits_best() {
        // Two small blocks separate a gap of 256 and one of 128 bytes; the last one fits both and must take the
        // smaller.
        const std::vector<Lifetime> lifetimes{{1024, 0, 9}, {256, 0, 3}, {512, 0, 9},
                                              {128, 0, 3},  {448, 0, 9}, {64, 5, 9}};
        const auto plan = plan_memory(lifetimes);
        QCOMPARE(plan.bytes, peak(lifetimes, 10));
    }

    void random_lifetimes_never_collide_data() {
        QTest::addColumn<int>("count");
        QTest::addColumn<int>("seed");
        for (int seed = 0; seed < 20; ++seed)
            QTest::addRow("%d lifetimes, seed %d", 20 + seed * 20, seed) << 20 + seed * 20 << seed;
    }
    void random_lifetimes_never_collide() {
        QFETCH(int, count);
        QFETCH(int, seed);
        std::mt19937 random(static_cast<unsigned>(seed));
        std::uniform_int_distribution<std::int32_t> step(0, 99);
        std::uniform_int_distribution<std::size_t> bytes(0, 5000);
        std::vector<Lifetime> lifetimes;
        for (int i = 0; i < count; ++i) {
            const auto [first, last] = std::minmax({step(random), step(random)});
            lifetimes.push_back({bytes(random), first, last});
        }
        const auto plan = plan_memory(lifetimes);
        for (std::size_t i = 0; i < lifetimes.size(); ++i) {
            QCOMPARE(plan.offsets[i] % memory_alignment, std::size_t{0});
            QVERIFY(plan.offsets[i] + lifetimes[i].bytes <= plan.bytes);
            for (std::size_t k = 0; k < i; ++k)
                QVERIFY(!collide(lifetimes[i], plan.offsets[i], lifetimes[k], plan.offsets[k]));
        }
        QVERIFY(plan.bytes >= peak(lifetimes, 100));
    }
};

QTEST_APPLESS_MAIN(MemoryPlanTest)
#include "tst_memory_plan.moc"
