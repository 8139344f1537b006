// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "graph/builder.h"

#include <QTest>

using namespace espalier;

class TestGraph : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void activations_are_computed_once_and_before_they_are_read() {
        Graph graph;
        const auto x = graph.add_tensor({.name = "x", .shape = {2}, .role = Role::input});
        const auto y = graph.add_tensor({.shape = {2}});
        QVERIFY_THROWS_EXCEPTION(ConfigError, graph.add_op({.kind = "relu", .inputs = {y}, .outputs = {y}}));
        graph.add_op({.kind = "relu", .inputs = {x}, .outputs = {y}});
        QVERIFY_THROWS_EXCEPTION(ConfigError, graph.add_op({.kind = "relu", .inputs = {x}, .outputs = {y}}));
        QVERIFY_THROWS_EXCEPTION(ConfigError, graph.add_op({.kind = "relu", .inputs = {y}, .outputs = {x}}));
        QVERIFY_THROWS_EXCEPTION(ConfigError, graph.add_op({.kind = "relu", .inputs = {77}, .outputs = {}}));
    }

    void scopes_name_layers_parameters_and_segments() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("images", {2, 3});
        {
            const GraphBuilder::Scope block(builder, "blocks.0", true);
            const GraphBuilder::Scope layer(builder, "linear");
            const auto w = builder.parameter("weight", {4, 3}, {});
            static_cast<void>(builder.apply_one("linear", {x, w}));
            QCOMPARE(graph.tensor(w).name, std::string("blocks.0.linear.weight"));
        }
        static_cast<void>(builder.apply_one("relu", {x}));
        QCOMPARE(graph.op(0).layer, std::string("blocks.0.linear"));
        QCOMPARE(graph.op(0).segment, std::string("blocks.0"));
        QVERIFY(graph.op(1).layer.empty());
        QVERIFY(graph.op(1).segment.empty());
        QVERIFY(graph.find("blocks.0.linear.weight").has_value());
        QVERIFY(!graph.find("weight").has_value());
    }

    void unwanted_outputs_are_left_out() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {4, 3}), gy = builder.input("gy", {4, 3});
        const auto mean = builder.input("mean", {3}), inv_std = builder.input("inv_std", {3});
        const auto outputs =
            builder.apply("batch_norm_gradient", {x, gy, mean, inv_std}, {}, {}, {true, false, true, false});
        QCOMPARE(outputs.size(), std::size_t{4});
        QVERIFY(outputs[0] != no_tensor && outputs[2] != no_tensor);
        QVERIFY(outputs[1] == no_tensor && outputs[3] == no_tensor);
        QVERIFY_THROWS_EXCEPTION(ConfigError, builder.apply("relu", {x}, {}, {}, {true, true}));
    }

    void readers_and_producers_are_found() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {4, 3});
        const auto y = builder.apply_one("relu", {x});
        const auto z = builder.apply_one("add", {y, y});
        QCOMPARE(graph.producer(z), std::optional<OpId>(1));
        QVERIFY(!graph.producer(x).has_value());
        QCOMPARE(graph.readers()[static_cast<std::size_t>(y)], std::vector<OpId>{1});
    }
};

QTEST_APPLESS_MAIN(TestGraph)
#include "tst_graph.moc"
