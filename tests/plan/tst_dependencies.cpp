// SPDX-License-Identifier: Apache-2.0
#include "plan/dependencies.h"

#include <QTest>
#include <random>

using namespace espalier;

namespace {

const std::byte* at(std::size_t offset) { return reinterpret_cast<const std::byte*>(4096 + offset); }
Access bytes(std::size_t begin, std::size_t count) { return {at(begin), count}; }
using Lists = std::vector<std::vector<std::int32_t>>;

bool overlap(const Access& a, const Access& b) { return a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes; }

/// Whether step `from` is reached from `to` by going back along the lists.
bool reaches(const Lists& after, std::int32_t to, std::int32_t from) {
    for (const auto step : after[static_cast<std::size_t>(to)])
        if (step == from || (step > from && reaches(after, step, from)))
            return true;
    return false;
}

} // namespace

class TestDependencies : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void readers_come_after_the_writer_and_need_not_wait_for_each_other() {
        const std::vector<StepAccess> steps{{{}, {bytes(0, 64)}},
                                            {{bytes(0, 64)}, {bytes(64, 64)}},
                                            {{bytes(0, 64)}, {bytes(128, 64)}},
                                            {{bytes(64, 128)}, {bytes(192, 64)}}};
        QCOMPARE(find_dependencies(steps), (Lists{{}, {0}, {0}, {1, 2}}));
    }

    void memory_that_is_used_again_waits_for_its_last_readers() {
        const std::vector<StepAccess> steps{{{}, {bytes(0, 64)}},
                                            {{bytes(0, 64)}, {bytes(64, 64)}},
                                            {{bytes(0, 32)}, {bytes(128, 64)}},
                                            {{}, {bytes(16, 16)}}};
        QCOMPARE(find_dependencies(steps).back(), (std::vector<std::int32_t>{0, 1, 2}));
    }

    void a_result_in_place_is_a_writer_too() {
        const std::vector<StepAccess> steps{
            {{}, {bytes(0, 64)}}, {{bytes(0, 64)}, {bytes(0, 64)}}, {{bytes(0, 64)}, {bytes(64, 64)}}};
        QCOMPARE(find_dependencies(steps), (Lists{{}, {0}, {1}}));
    }

    void turns_follow_each_other_and_keep_their_own_order() {
        // Turns of two: the second of a turn waits for the first where it did, and both for all of the turn before.
        QCOMPARE(in_turns(Lists{{}, {0}, {0}, {1}, {2, 3}, {0, 4}}, 2),
                 (Lists{{}, {0}, {0, 1}, {0, 1}, {2, 3}, {2, 3, 4}}));
        QCOMPARE(in_turns(Lists{{}, {}, {}}, 1), (Lists{{}, {0}, {1}}));
        QCOMPARE(in_turns(Lists{{}, {0}}, 3), (Lists{{}, {0}}));
        QCOMPARE(in_turns(Lists{}, 2), Lists{});
    }

    /// Every pair of random steps that touch the same bytes, one of them writing, is ordered; a step that depends on
    /// another shares bytes with it.
    void no_conflict_is_missed_and_none_made_up() {
        std::mt19937 random(7);
        for (int trial = 0; trial < 200; ++trial) {
            std::vector<StepAccess> steps(12);
            const auto some = [&] {
                std::vector<Access> list(random() % 3);
                for (auto& access : list)
                    access = bytes(random() % 40, 1 + random() % 12);
                return list;
            };
            for (auto& step : steps)
                step = {some(), some()};
            const auto after = find_dependencies(steps);
            const auto conflict = [&](std::size_t i, std::size_t j) {
                const auto meet = [](const std::vector<Access>& a, const std::vector<Access>& b) {
                    return std::ranges::any_of(a, [&](const Access& x) {
                        return std::ranges::any_of(b, [&](const Access& y) { return overlap(x, y); });
                    });
                };
                return meet(steps[i].writes, steps[j].reads) || meet(steps[i].writes, steps[j].writes) ||
                       meet(steps[i].reads, steps[j].writes);
            };
            for (std::size_t j = 0; j < steps.size(); ++j) {
                for (std::size_t i = 0; i < j; ++i)
                    if (conflict(i, j))
                        QVERIFY(reaches(after, static_cast<std::int32_t>(j), static_cast<std::int32_t>(i)));
                for (const auto i : after[j])
                    QVERIFY(i < static_cast<std::int32_t>(j) && conflict(static_cast<std::size_t>(i), j));
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestDependencies)
#include "tst_dependencies.moc"
