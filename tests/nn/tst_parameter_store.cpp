// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "nn/initial_values.h"
#include "nn/network_spec.h"
#include "nn/parameter_store.h"

#include <QtTest>
#include <cmath>
#include <numeric>

using namespace espalier;
using Kind = Initializer::Kind;

namespace {

double mean(const std::vector<float>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<float>& values) {
    const double middle = mean(values);
    double sum = 0;
    for (const float value : values) {
        sum += (value - middle) * (value - middle);
    }
    return std::sqrt(sum / static_cast<double>(values.size()));
}

Graph resnet(std::int64_t base_width, const std::vector<int>& stages, NormMode mode) {
    return build_forward(
               NetworkSpec::from_json({{"network", "resnet"}, {"base_width", base_width}, {"stages", stages}}), 2, mode)
        .graph;
}

} // namespace

class TestParameterStore : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initial_values_have_their_distribution() {
        const Shape shape{10, 1000};
        const auto normal = initial_values({Kind::normal, 0.5}, shape, 1, "a");
        QVERIFY(std::abs(mean(normal)) < 0.02);
        QVERIFY(std::abs(deviation(normal) - 0.5) < 0.02);
        QVERIFY(std::abs(deviation(initial_values({Kind::kaiming_normal, 8}, shape, 1, "a")) - 0.5) < 0.02);
        const auto uniform = initial_values({Kind::uniform, 0.5}, shape, 1, "a");
        QVERIFY(std::abs(mean(uniform)) < 0.02);
        QVERIFY(std::abs(deviation(uniform) - 0.5 / std::sqrt(3.0)) < 0.01);
        QVERIFY(*std::max_element(uniform.begin(), uniform.end()) <= 0.5f);
        QVERIFY((initial_values({Kind::constant, 2.0}, {2}, 1, "a") == std::vector<float>{2.0f, 2.0f}));
        QVERIFY((initial_values({Kind::identity, 1.0}, {3, 2, 1, 1}, 1, "a") == std::vector<float>{1, 0, 0, 1, 0, 0}));
        QVERIFY_EXCEPTION_THROWN((void)initial_values({Kind::identity, 1.0}, {3}, 1, "a"), ConfigError);
    }

    /// Other machines and later versions start from the same values: the seed in a passport means something.
    void initial_values_never_change() {
        const auto values = initial_values({Kind::uniform, 1.0}, {3}, 42, "stem.0.weight");
        QCOMPARE(values[0], -0.469523937f);
        QCOMPARE(values[1], -0.43678692f);
        QCOMPARE(values[2], -0.326263785f);
    }

    void initial_values_depend_on_seed_and_name() {
        const auto of = [](std::uint64_t seed, const char* name, std::int64_t count) {
            return initial_values({Kind::normal, 1.0}, {count}, seed, name);
        };
        QVERIFY(of(1, "a", 100) == of(1, "a", 100));
        QVERIFY(of(1, "a", 100) != of(2, "a", 100));
        QVERIFY(of(1, "a", 100) != of(1, "b", 100));
    }

    void a_layers_values_do_not_depend_on_the_others() {
        ParameterStore shallow, deep;
        shallow.add_missing(resnet(8, {1, 1}, NormMode::training), 3);
        deep.add_missing(resnet(8, {1, 1, 1}, NormMode::inference), 3);
        for (const ParameterStore::Entry& entry : shallow.entries()) {
            if (!entry.name.starts_with("classifier")) {
                QVERIFY2(deep.at(entry.name).values == entry.values, entry.name.c_str());
            }
        }
        QVERIFY_EXCEPTION_THROWN(shallow.add_missing(resnet(16, {1, 1}, NormMode::training), 3), ConfigError);
    }

    void keeps_order_and_finds_by_name() {
        ParameterStore store;
        store.add({"b", {2}, true, {1, 2}, {}});
        store.add({"a", {1}, false, {3}, {}});
        store.add({"alpha_normal", {3}, true, {1, 2, 3}, {}});
        QVERIFY_EXCEPTION_THROWN(store.add({"a", {1}, true, {3}, {}}), ConfigError);
        QVERIFY_EXCEPTION_THROWN(store.add({"c", {2}, true, {3}, {}}), ConfigError);
        QCOMPARE(store.parameter_count(), std::int64_t{2});
        store.erase("b");
        store.erase("absent");
        QVERIFY(!store.has("b"));
        QCOMPARE(store.at("a").values.front(), 3.0f);
        QCOMPARE(store.entries().front().name, std::string("a"));
        QVERIFY_EXCEPTION_THROWN((void)store.at("b"), ConfigError);
    }
};

QTEST_GUILESS_MAIN(TestParameterStore)
#include "tst_parameter_store.moc"
