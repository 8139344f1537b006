// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"
#include "train/precision.h"

#include <QtTest>
#include <limits>

using namespace espalier;

namespace {

using Names = std::vector<std::string>;
const Names halves_first{"fp16", "bf16", "fp32"};

RunConfig small_network() {
    return RunConfig::from_json(
        {{"network", {{"network", "quick"}, {"widths", {4, 8}}}}, {"batch", 4}, {"threads", 1}});
}

} // namespace

class TestPrecision : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_network_that_halves_can_train_gets_the_first_candidate() {
        const auto backend = make_backend("reference", {}); // rounds where a cast does, as a device with halves
        auto config = small_network();
        config.network.height = config.network.width = 8;
        const auto choice = choose_precision(*backend, config, halves_first);
        QCOMPARE(choice.precision, std::string("fp16"));
        QVERIFY(choice.refused.empty());
        QVERIFY(choice.note.find("5 %") != std::string::npos);
    }

    void a_backend_that_refuses_halves_leads_to_fp32_and_says_why() {
        const auto backend = make_backend("cpu", {.threads = 1});
        auto config = small_network();
        config.network.height = config.network.width = 8;
        const auto choice = choose_precision(*backend, config, halves_first);
        QCOMPARE(choice.precision, std::string("fp32"));
        QCOMPARE(choice.refused.size(), std::size_t{2});
        QCOMPARE(choice.refused[0].from, std::string("fp16"));
        QCOMPARE(choice.refused[0].to, std::string("bf16"));
        QCOMPARE(choice.refused[1].to, std::string("fp32"));
        QVERIFY(choice.refused[0].reason.find("cast") != std::string::npos);
    }

    void losses_must_be_finite_and_near_those_of_fp32() {
        const std::vector<double> exact{2.3, 2.2, 2.1};
        QVERIFY(self_test_fault({2.31, 2.19, 2.12}, exact).empty());
        QVERIFY(self_test_fault({2.31, std::numeric_limits<double>::quiet_NaN(), 2.1}, exact).find("update 2") !=
                std::string::npos);
        QVERIFY(self_test_fault({2.31, 2.2, 2.5}, exact).find("2.5") != std::string::npos);
        QVERIFY(!self_test_fault({}, exact).empty());
    }
};

QTEST_GUILESS_MAIN(TestPrecision)
#include "tst_precision.moc"
