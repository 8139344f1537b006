// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "nn/genotype.h"

#include <QtTest>

using namespace espalier;

class TestGenotype : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void takes_the_two_strongest_edges_of_each_node() {
        const std::vector<std::string> ops{"none", "skip_connect", "sep_conv_3x3"};
        // Two nodes: edges 0 and 1 to the first, 2, 3 and 4 to the second.
        const std::vector<float> alpha{
            9, 0, 1, // none is strongest, and still not taken
            0, 3, 0, //
            0, 0, 2, //
            0, 0, 0, // weakest of the second node: no operation stands out
            0, 4, 0, //
        };
        const std::vector<GenotypeEdge> expected{
            {"sep_conv_3x3", 0}, {"skip_connect", 1}, {"sep_conv_3x3", 0}, {"skip_connect", 2}};
        QVERIFY(derive_cell(alpha, ops) == expected);
    }

    void weighs_by_softmax_over_all_operations() {
        const std::vector<std::string> ops{"none", "skip_connect"};
        // Edge 0 of the second node has the largest alpha but shares it with none: its weight is one half.
        const std::vector<float> alpha{0, 0, 0, 0, /* second node */ 5, 5, 0, 1, 0, 2};
        const auto cell = derive_cell(alpha, ops);
        QVERIFY((cell[2] == GenotypeEdge{"skip_connect", 1}));
        QVERIFY((cell[3] == GenotypeEdge{"skip_connect", 2}));
    }

    void equal_weights_take_the_first() {
        const auto cell = derive_cell(std::vector<float>(14 * 2, 0.0f), {"skip_connect", "sep_conv_3x3"});
        QCOMPARE(cell.size(), std::size_t{8});
        for (std::size_t i = 0; i < cell.size(); ++i) {
            QVERIFY((cell[i] == GenotypeEdge{"skip_connect", static_cast<std::int64_t>(i % 2)}));
        }
    }

    void refuses_tables_that_do_not_fit() {
        QVERIFY_EXCEPTION_THROWN((void)derive_cell({0, 0, 0}, {"skip_connect"}), ConfigError);
        QVERIFY_EXCEPTION_THROWN((void)derive_cell({0, 0}, {"none"}), ConfigError);
        QVERIFY_EXCEPTION_THROWN((void)derive_genotype(ParameterStore{}, {"skip_connect"}), ConfigError);
    }

    void survives_json() {
        const Genotype genotype{{{"sep_conv_3x3", 0}, {"skip_connect", 1}}, {{"max_pool_3x3", 1}, {"dil_conv_5x5", 0}}};
        QVERIFY(Genotype::from_json(Json::parse(genotype.to_json().dump())) == genotype);
        QVERIFY_EXCEPTION_THROWN((void)Genotype::from_json({{"normal", Json::array()}}), ConfigError);
    }
};

QTEST_GUILESS_MAIN(TestGenotype)
#include "tst_genotype.moc"
