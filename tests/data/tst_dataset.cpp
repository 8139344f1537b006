// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/dataset.h"
#include "data/refused_spec.h"
#include "data/sample_set.h"
#include "data/statistics.h"

#include <QTest>
#include <set>

using namespace espalier;
using namespace espalier::test;

namespace {

std::vector<std::size_t> class_counts(const SampleSet& set) {
    std::vector<std::size_t> counts(set.dataset->classes());
    for (std::size_t i = 0; i < set.size(); ++i)
        ++counts.at(static_cast<std::size_t>(set.label(i)));
    return counts;
}

} // namespace

class TestDataset : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void builtin_is_balanced() {
        const auto set = open_dataset("builtin");
        QCOMPARE(set->image(), (ImageShape{1, 28, 28}));
        QCOMPARE(set->classes(), std::size_t{10});
        QCOMPARE(class_counts(all_of(set, Part::train)), std::vector<std::size_t>(10, 400));
        QCOMPARE(class_counts(all_of(set, Part::validation)), std::vector<std::size_t>(10, 200));
        QCOMPARE(set->size(Part::test), std::size_t{0});
    }

    void builtin_parts_share_no_image() {
        const auto set = open_dataset("builtin");
        std::set<std::vector<std::uint8_t>> seen;
        std::vector<std::uint8_t> image(set->image().bytes());
        for (std::size_t i = 0; i < set->size(Part::train); ++i) {
            set->read(Part::train, i, image);
            seen.insert(image);
        }
        QVERIFY(seen.size() > 3990); // Fashion-MNIST itself holds a few doubles
        std::size_t shared = 0;
        for (std::size_t i = 0; i < set->size(Part::validation); ++i) {
            set->read(Part::validation, i, image);
            shared += seen.count(image);
        }
        QVERIFY(shared <= 2);
    }

    void fashion_mnist_is_whole() {
        std::shared_ptr<const Dataset> set;
        try {
            set = open_dataset("fashion-mnist");
        } catch (const DataError& error) {
            QSKIP(error.what());
        }
        QCOMPARE(class_counts(all_of(set, Part::train)), std::vector<std::size_t>(10, 6000));
        QCOMPARE(class_counts(all_of(set, Part::test)), std::vector<std::size_t>(10, 1000));
        const auto statistics = channel_statistics(all_of(set, Part::train)); // the values that the field quotes
        QVERIFY(std::abs(statistics.mean[0] - 0.2860) < 1e-4);
        QVERIFY(std::abs(statistics.deviation[0] - 0.3530) < 1e-4);
    }

    void content_hash_tells_sets_apart() {
        const auto hash = open_dataset("builtin")->content_hash();
        QCOMPARE(hash.size(), std::size_t{16});
        QCOMPARE(hash, open_dataset("builtin")->content_hash());
        const auto synthetic = open_dataset("synthetic:1x8x8,3,30,1")->content_hash();
        QVERIFY(synthetic != open_dataset("synthetic:1x8x8,3,30,2")->content_hash());
        QVERIFY(synthetic != hash);
    }

    void unknown_sets_are_refused_in_words() {
        for (const char* spec : {"", "mnist", "idx:", "synthetic:", "folder:", "cifar10:", "cifar100"})
            QVERIFY(refusal_of(spec).find("synthetic:CxHxW") != std::string::npos);
        QVERIFY(refusal_of("/tmp").find("write folder:/tmp.") != std::string::npos);
        QVERIFY(refusal_of("idx:/nowhere").find("no folder '/nowhere'") != std::string::npos);
    }

    void synthetic_limits_name_the_value() {
        QVERIFY(refusal_of("synthetic:3x32,10,100").find("'synthetic:3x32,10,100'") != std::string::npos);
        QVERIFY(refusal_of("synthetic:0x32x32,10,100").find("'0'") != std::string::npos);
        QVERIFY(refusal_of("synthetic:3x32x32,1,100").empty());
        QVERIFY(refusal_of("synthetic:3x32x32,10,1e9").find("1 to 100000000") != std::string::npos);
    }

    void synthetic_is_a_function_of_seed_and_index() {
        const auto a = open_dataset("synthetic:3x9x7,4,50,5"), b = open_dataset("synthetic:3x9x7,4,50,5");
        std::vector<std::uint8_t> first(a->image().bytes()), second(first.size());
        for (const auto part : {Part::train, Part::validation})
            for (std::size_t i = 0; i < a->size(part); ++i) {
                a->read(part, i, first);
                b->read(part, i, second);
                QCOMPARE(first, second);
                QCOMPARE(a->label(part, i), static_cast<std::int32_t>(i % 4));
            }
        a->read(Part::train, 0, first);
        a->read(Part::train, 4, second);
        QVERIFY(first != second);
    }

    /// The nearest class mean must classify far better than chance, or no network could show that it learns.
    void synthetic_can_be_learned() {
        const auto set = open_dataset("synthetic:1x16x16,5,500");
        const auto pixels = set->image().bytes();
        std::vector<std::vector<double>> mean(5, std::vector<double>(pixels));
        std::vector<std::uint8_t> image(pixels);
        for (std::size_t i = 0; i < set->size(Part::train); ++i) {
            set->read(Part::train, i, image);
            for (std::size_t p = 0; p < pixels; ++p)
                mean[i % 5][p] += image[p] / 100.0;
        }
        std::size_t right = 0;
        const auto count = set->size(Part::validation);
        for (std::size_t i = 0; i < count; ++i) {
            set->read(Part::validation, i, image);
            std::size_t best = 0;
            double least = 1e300;
            for (std::size_t k = 0; k < 5; ++k) {
                double distance = 0;
                for (std::size_t p = 0; p < pixels; ++p)
                    distance += (image[p] - mean[k][p]) * (image[p] - mean[k][p]);
                if (distance < least) {
                    least = distance;
                    best = k;
                }
            }
            right += best == i % 5;
        }
        QVERIFY2(right * 10 > count * 6, std::to_string(right).c_str());
    }

    void split_is_seeded_and_stratified() {
        const auto all = all_of(open_dataset("builtin"), Part::train);
        const auto parts = split(all, 0.1, 7);
        QCOMPARE(class_counts(parts.first), std::vector<std::size_t>(10, 360));
        QCOMPARE(class_counts(parts.second), std::vector<std::size_t>(10, 40));
        std::set<std::uint32_t> together(parts.first.indices.begin(), parts.first.indices.end());
        together.insert(parts.second.indices.begin(), parts.second.indices.end());
        QCOMPARE(together.size(), std::size_t{4000});
        QCOMPARE(split(all, 0.1, 7).second.indices, parts.second.indices);
        QVERIFY(split(all, 0.1, 8).second.indices != parts.second.indices);
        QCOMPARE(split(all, 0, 7).second.size(), std::size_t{0});
        QVERIFY_THROWS_EXCEPTION(ConfigError, (void)split(all, 1, 7));
        QVERIFY_THROWS_EXCEPTION(ConfigError, (void)split(all, std::nan(""), 7));
    }

    void split_leaves_each_class_an_image() {
        const auto parts = split(all_of(open_dataset("synthetic:1x4x4,10,15"), Part::train), 0.9, 1);
        for (const auto count : class_counts(parts.first))
            QVERIFY(count >= 1);
    }

    void run_sets_take_the_sets_own_validation_part() {
        const auto sets = sets_for_run(open_dataset("builtin"), 0.1, 1);
        QCOMPARE(sets.train.size(), std::size_t{4000});
        QCOMPARE(sets.validation.part, Part::validation);
        QVERIFY(sets.test.empty());
    }

    void statistics_are_exact() {
        const auto all = all_of(open_dataset("synthetic:2x5x3,2,40"), Part::train);
        const auto statistics = channel_statistics(all);
        std::vector<std::uint8_t> image(30);
        for (std::size_t channel = 0; channel < 2; ++channel) {
            double sum = 0, squares = 0;
            for (std::size_t i = 0; i < all.size(); ++i) {
                all.read(i, image);
                for (std::size_t p = 0; p < 15; ++p) {
                    const double value = image[channel * 15 + p] / 255.0;
                    sum += value;
                    squares += value * value;
                }
            }
            const double mean = sum / 600;
            QVERIFY(std::abs(statistics.mean[channel] - mean) < 1e-12);
            QVERIFY(std::abs(statistics.deviation[channel] - std::sqrt(squares / 600 - mean * mean)) < 1e-9);
        }
        QVERIFY_THROWS_EXCEPTION(DataError, (void)channel_statistics(SampleSet{all.dataset, Part::train, {}}));
    }
};

QTEST_GUILESS_MAIN(TestDataset)
#include "tst_dataset.moc"
