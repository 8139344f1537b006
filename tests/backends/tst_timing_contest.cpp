// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/timing_contest.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <random>

using namespace espalier::cuda;
using Order = std::vector<std::size_t>;

namespace {

constexpr double refuses = -1;

/// A card that is measured: times of its kernels, which vary by some percent, at a clock that rises with every launch.
class Card {
public:
    Card(std::vector<double> kernels, double noise, double slow_at_first = 1)
        : kernels_(std::move(kernels)), noise_(noise), slow_at_first_(slow_at_first) {}

    std::optional<double> time(std::size_t kernel) { return measure(kernels_[kernel]); }
    std::optional<double> measure(double milliseconds) {
        ++asked_;
        if (milliseconds == refuses)
            return std::nullopt;
        const double clock = 1 / (1 + (slow_at_first_ - 1) * std::exp(-asked_ / 4.0));
        return milliseconds / clock * std::uniform_real_distribution<double>(1 - noise_, 1 + noise_)(random_);
    }
    Order fastest() {
        return fastest_first(kernels_.size(), [this](std::size_t kernel, double) { return time(kernel); });
    }
    [[nodiscard]] int asked() const { return asked_; }

private:
    std::vector<double> kernels_;
    double noise_, slow_at_first_;
    int asked_ = 0;
    std::mt19937 random_{1};
};

} // namespace

class TestTimingContest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void the_fastest_come_first() {
        QCOMPARE(Card({3, 2.5, 9, 2.6}, 0).fastest(), (Order{1, 3, 0}));
        QCOMPARE(Card({3}, 0).fastest(), Order{0});
    }
    void what_refuses_is_left_out() {
        QCOMPARE(Card({3, refuses, 2}, 0).fastest(), (Order{2, 0}));
        QCOMPARE(Card({refuses, 1.2, 1}, 0).fastest(), (Order{2, 1})); // the guess, which cannot be recorded
        QCOMPARE(Card({refuses, refuses}, 0).fastest(), Order{});
        QCOMPARE(fastest_first(0, [](std::size_t, double) { return std::optional<double>(1); }), Order{});
    }
    void what_refuses_later_is_left_out() {
        std::vector<int> asked(3);
        const auto order = fastest_first(3, [&](std::size_t kernel, double) {
            return kernel == 1 && ++asked[kernel] > 1 ? std::optional<double>()
                                                      : 2.0 - 0.1 * static_cast<double>(kernel);
        });
        QCOMPARE(order, (Order{2, 0}));
    }
    void a_card_that_wakes_up_does_not_put_the_first_behind() {
        for (const double slow : {1.2, 2.0, 4.0}) {
            std::vector<double> kernels(40, 1.25);
            kernels[0] = 1;
            QCOMPARE(Card(kernels, 0.02, slow).fastest().front(), std::size_t{0});
        }
    }
    void a_small_lead_is_seen_through_noise() {
        std::vector<double> kernels(60);
        for (std::size_t i = 0; i < kernels.size(); ++i)
            kernels[i] = 1 + 0.02 * static_cast<double>(i);
        std::swap(kernels[0], kernels[37]);
        QCOMPARE(Card(kernels, 0.008, 1.5).fastest().front(), std::size_t{37});
    }
    void slow_ones_are_timed_once() {
        std::vector<double> kernels(100, 2);
        kernels[0] = kernels[70] = 1;
        Card card(kernels, 0);
        card.fastest();
        QCOMPARE(card.asked(), 1 + 100 + 5 * 2);
    }
    /// Engines with two settings: the best ones are not among those that are named, and have to be climbed to.
    void neighbours_are_climbed_to() {
        constexpr int size = 12;
        std::vector<std::pair<int, int>> settings{{0, 0}, {9, 2}, {3, 11}};
        const auto milliseconds = [&](std::size_t i) {
            return 1 + 0.05 * std::abs(settings[i].first - 7) + 0.04 * std::abs(settings[i].second - 8);
        };
        Card card({}, 0.005, 1.3);
        const auto order = fastest_nearby(
            settings.size(), [&](std::size_t i, double) { return card.measure(milliseconds(i)); },
            [&](std::size_t i) {
                std::vector<std::size_t> near;
                const auto at = settings[i];
                const auto add = [&](std::pair<int, int> other) {
                    if (std::ranges::find(settings, other) == settings.end()) {
                        settings.push_back(other);
                        near.push_back(settings.size() - 1);
                    }
                };
                for (int value = 0; value < size; ++value) {
                    add({value, at.second});
                    add({at.first, value});
                }
                return near;
            });
        QCOMPARE(settings[order.front()], (std::pair{7, 8}));
        QVERIFY(std::ranges::find(order, std::size_t{0}) != order.end()); // what the others are compared with
        auto once = order;
        std::ranges::sort(once);
        QVERIFY(std::ranges::adjacent_find(once) == once.end());
    }
    void without_better_neighbours_the_order_stays() {
        int asked = 0;
        const auto order = fastest_nearby(
            3,
            [](std::size_t i, double) { return i > 2 ? std::optional<double>() : 3.0 - 0.1 * static_cast<double>(i); },
            [&](std::size_t) {
                return ++asked == 1 ? std::vector<std::size_t>{3, 4} : std::vector<std::size_t>{};
            });
        QCOMPARE(order, (Order{2, 1, 0}));
        QCOMPARE(asked, 3); // each of the leaders, once
        QCOMPARE(
            fastest_nearby(
                2, [](std::size_t, double) { return std::optional<double>(); }, [](std::size_t) { return Order{}; }),
            Order{});
    }
    void few_values_of_a_setting_are_tried() {
        using Values = std::vector<std::int64_t>;
        QCOMPARE(values_to_try(0, 3), (Values{0, 1, 2, 3}));
        QCOMPARE(values_to_try(1, 16), (Values{1, 2, 4, 8, 16}));
        QCOMPARE(values_to_try(1, 2048).back(), std::int64_t{64});
        QCOMPARE(values_to_try(-1, 2), (Values{-1, 0, 1, 2})); // "none" is a setting of some libraries
        QCOMPARE(values_to_try(-2, 5000).size(), std::size_t{67});
        QCOMPARE(values_to_try(5, 4), Values{});
    }
    void the_best_so_far_is_told() {
        std::vector<double> bests;
        static_cast<void>(fastest_first(3, [&](std::size_t kernel, double best) {
            bests.push_back(best);
            return std::optional<double>(3 - static_cast<double>(kernel));
        }));
        QVERIFY(std::isinf(bests[0]) && std::isinf(bests[1]));
        QCOMPARE(bests[2], 3.0);
        QCOMPARE(bests[3], 2.0);
        QCOMPARE(bests.back(), 1.0);
    }
};

QTEST_GUILESS_MAIN(TestTimingContest)
#include "tst_timing_contest.moc"
