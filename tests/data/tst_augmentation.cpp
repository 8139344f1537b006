// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/augmentation.h"
#include "texts.h"

#include <QTest>
#include <map>

using namespace espalier;
using namespace espalier::test;

namespace {

/// Of bytes 0 ... 255 makes 0 ... 255, so that expected images can be written down.
ChannelStatistics identity(std::size_t channels) {
    return {std::vector<double>(channels, 0.0), std::vector<double>(channels, 1.0 / 255)};
}

std::vector<int> transformed(const ImageTransform& transform, const std::vector<std::uint8_t>& in,
                             const ImageTransform::Draw& draw) {
    std::vector<float> out(in.size(), -1);
    transform.apply(in, draw, out);
    std::vector<int> values;
    for (float value : out)
        values.push_back(static_cast<int>(std::lround(value)));
    return values;
}

} // namespace

class TestAugmentation : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void moves_and_mirrors() {
        const ImageTransform transform({2, 2, 3}, identity(2), {.crop = 1, .flip = true}, 1);
        const std::vector<std::uint8_t> image{1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16};
        using Values = std::vector<int>;
        QCOMPARE(transformed(transform, image, {0, 0, false}), (Values{1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16}));
        QCOMPARE(transformed(transform, image, {0, 0, true}), (Values{3, 2, 1, 6, 5, 4, 13, 12, 11, 16, 15, 14}));
        QCOMPARE(transformed(transform, image, {1, 1, false}), (Values{0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 11, 12}));
        QCOMPARE(transformed(transform, image, {-1, -1, false}), (Values{5, 6, 0, 0, 0, 0, 15, 16, 0, 0, 0, 0}));
        QCOMPARE(transformed(transform, image, {1, -1, true}), (Values{0, 0, 0, 0, 3, 2, 0, 0, 0, 0, 13, 12}));
    }

    void normalises_with_mean_and_deviation() {
        const ImageTransform transform({1, 1, 2}, {{0.5}, {0.25}}, {}, 1);
        std::vector<float> out(2);
        transform.apply(std::vector<std::uint8_t>{0, 255}, {}, out);
        QCOMPARE(out, (std::vector<float>{-2.0f, 2.0f}));
    }

    void draws_depend_on_seed_epoch_and_sample_alone() {
        const ImageTransform a({1, 28, 28}, identity(1), {.crop = 4, .flip = true}, 9);
        const ImageTransform b({1, 28, 28}, identity(1), {.crop = 4, .flip = true}, 9);
        const ImageTransform other_seed({1, 28, 28}, identity(1), {.crop = 4, .flip = true}, 10);
        int changed_by_epoch = 0, changed_by_seed = 0;
        const auto same = [](const auto& x, const auto& y) {
            return x.down == y.down && x.right == y.right && x.mirrored == y.mirrored;
        };
        for (std::uint32_t sample = 500; sample-- > 0;) {
            QVERIFY(same(a.draw(3, sample), b.draw(3, sample)));
            changed_by_epoch += !same(a.draw(3, sample), a.draw(4, sample));
            changed_by_seed += !same(a.draw(3, sample), other_seed.draw(3, sample));
        }
        QVERIFY(changed_by_epoch > 480 && changed_by_seed > 480); // one draw in 162 is equal by chance
    }

    void draws_are_uniform() {
        const ImageTransform transform({1, 28, 28}, identity(1), {.crop = 2, .flip = true}, 1);
        std::map<std::int64_t, int> down, right;
        int mirrored = 0;
        for (std::uint32_t sample = 0; sample < 10'000; ++sample) {
            const auto draw = transform.draw(0, sample);
            ++down[draw.down];
            ++right[draw.right];
            mirrored += draw.mirrored;
        }
        for (std::int64_t shift = -2; shift <= 2; ++shift) {
            QVERIFY(std::abs(down[shift] - 2000) < 200); // five standard deviations
            QVERIFY(std::abs(right[shift] - 2000) < 200);
        }
        QCOMPARE(down.size(), std::size_t{5});
        QVERIFY(std::abs(mirrored - 5000) < 250);
    }

    void wrong_settings_are_refused() {
        QVERIFY_THROWS_EXCEPTION(ConfigError, ImageTransform({1, 4, 4}, identity(1), {.crop = 4}, 1));
        const auto refusal_of = [](std::int64_t side, std::int64_t crop) {
            return message_of<ConfigError>([&] { ImageTransform({1, side, side}, identity(1), {.crop = crop}, 1); });
        };
        QVERIFY(has(refusal_of(4, 5), "crop is 5, but images of 1x4x4 can be moved by 3 pixels at most"));
        QVERIFY(has(refusal_of(2, 2), "can be moved by 1 pixel at most"));
        QVERIFY(has(refusal_of(1, 4), "images of 1x1x1 leave no room to crop. Set augmentation.crop=0."));
        QVERIFY_THROWS_EXCEPTION(ConfigError, ImageTransform({1, 4, 4}, identity(1), {.crop = -1}, 1));
        QVERIFY_THROWS_EXCEPTION(ConfigError, ImageTransform({3, 4, 4}, identity(1), {}, 1));
    }
};

QTEST_GUILESS_MAIN(TestAugmentation)
#include "tst_augmentation.moc"
