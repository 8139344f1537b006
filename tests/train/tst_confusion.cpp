// SPDX-License-Identifier: Apache-2.0
#include "data/class_balance.h"
#include "train/confusion.h"

#include <QtTest>
#include <cmath>

using namespace espalier;

namespace {

/// 5 images of class 0, 3 of class 1, 2 of class 2; nothing is taken for class 2, and there is no image of class 3.
ConfusionMatrix four_classes() {
    ConfusionMatrix matrix(4);
    const std::size_t pairs[][2] = {{0, 0}, {0, 0}, {0, 0}, {0, 1}, {0, 3}, {1, 1}, {1, 1}, {1, 0}, {2, 0}, {2, 1}};
    for (const auto& [truth, predicted] : pairs)
        matrix.add(truth, predicted);
    return matrix;
}

/// 6, 3 and no image of three classes.
class Uneven final : public Dataset {
public:
    Uneven() : Dataset({"uneven", "synthetic", {"many", "few", "none"}, {1, 1, 1}}) {}
    [[nodiscard]] std::size_t size(Part part) const override { return part == Part::train ? 9 : 0; }
    [[nodiscard]] std::int32_t label(Part, std::size_t index) const override { return index < 6 ? 0 : 1; }
    void read(Part, std::size_t, std::span<std::uint8_t>) const override {}
    [[nodiscard]] std::string file(Part, std::size_t) const override { return {}; }
    [[nodiscard]] std::string content_hash() const override { return {}; }
};

} // namespace

class TestConfusion : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void scores_are_those_counted_by_hand() {
        const auto matrix = four_classes();
        QCOMPARE(matrix.accuracy(), 0.5);
        const auto first = matrix.score(0);
        QCOMPARE(first.images, 5);
        QCOMPARE(first.predicted, 5);
        QCOMPARE(first.correct, 3);
        QCOMPARE(first.precision, 3.0 / 5);
        QCOMPARE(first.recall, 3.0 / 5);
        QCOMPARE(first.f1, 3.0 / 5);
        const auto second = matrix.score(1);
        QCOMPARE(second.precision, 2.0 / 4);
        QCOMPARE(second.recall, 2.0 / 3);
        QCOMPARE(second.f1, 2 * 0.5 * (2.0 / 3) / (0.5 + 2.0 / 3));
    }

    void what_cannot_be_divided_is_not_a_number() {
        const auto matrix = four_classes();
        const auto never_predicted = matrix.score(2), without_images = matrix.score(3);
        QVERIFY(std::isnan(never_predicted.precision));
        QCOMPARE(never_predicted.recall, 0.0);
        QCOMPARE(never_predicted.f1, 0.0);
        QCOMPARE(without_images.precision, 0.0);
        QVERIFY(std::isnan(without_images.recall));
        QCOMPARE(ConfusionMatrix(2).accuracy(), 0.0);
        QVERIFY(std::isnan(ConfusionMatrix(2).score(0).f1));
    }

    void very_many_classes_take_memory_by_their_images() {
        ConfusionMatrix matrix(1'000'000); // a full one would have 8 TB
        matrix.add(999'999, 0);
        matrix.add(999'999, 0);
        matrix.add(5, 5);
        QCOMPARE(matrix.cells().size(), std::size_t{2});
        QCOMPARE(matrix.cells().begin()->first, ConfusionMatrix::Cell(5, 5)); // row by row
        QCOMPARE(matrix.cells().at({999'999, 0}), 2);
        QCOMPARE(matrix.score(0).predicted, 2);
        QCOMPARE(matrix.score(999'999).images, 2);
        QCOMPARE(matrix.accuracy(), 1.0 / 3);
    }

    void balanced_weights_make_classes_count_the_same() {
        const auto weights = balanced_class_weights(all_of(std::make_shared<Uneven>(), Part::train));
        QCOMPARE(weights, (std::vector<float>{9.0F / (3 * 6), 9.0F / (3 * 3), 0.0F}));
    }
};

QTEST_GUILESS_MAIN(TestConfusion)
#include "tst_confusion.moc"
