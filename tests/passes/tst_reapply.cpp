// SPDX-License-Identifier: Apache-2.0
#include "graph/autodiff.h"
#include "passes/counting.h"
#include "passes/passes.h"

#include <QTest>

using namespace espalier;

namespace {

TensorId conv(GraphBuilder& builder, const std::string& name, TensorId x) {
    const auto w = builder.parameter(name, {3, 3, 1, 1}, {});
    return builder.apply_one("conv2d", {x, w});
}

/// Adds loss and gradients of every parameter, fuses, and applies the pass.
Graph reapplied(Graph graph, TensorId y) {
    GraphBuilder builder(graph);
    std::vector<TensorId> parameters;
    for (std::size_t i = 0; i < graph.tensors().size(); ++i)
        if (graph.tensors()[i].role == Role::parameter)
            parameters.push_back(static_cast<TensorId>(i));
    const auto loss = builder.apply_one("dot", {y, y});
    graph.keep(loss);
    for (const auto& [tensor, gradient] : differentiate(graph, loss, parameters))
        graph.keep(gradient);
    return reapply(fuse(std::move(graph)));
}

} // namespace

class TestReapply : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_norm_between_convolutions_is_not_stored() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {2, 3, 4, 4});
        const auto h = builder.apply_one("relu", {plain_norm(builder, "n", conv(builder, "w", x))});
        graph = reapplied(std::move(graph), conv(builder, "v", h));
        const auto& again = the(graph, "batch_norm_apply");
        QVERIFY(again.recomputed);
        QCOMPARE(again.stage, Stage::backward);
        QCOMPARE(again.inputs[1], the(graph, "batch_norm").outputs[1]);
        for (const auto& op : graph.ops())
            if (op.stage == Stage::backward)
                QVERIFY(std::ranges::find(op.inputs, h) == op.inputs.end());
        // Both readers, the second weight's gradient and the norm's own, share one repetition.
        QCOMPARE(count(graph, "batch_norm_apply"), 1);
        QCOMPARE(the(graph, "batch_norm_gradient").inputs[6], again.outputs[0]);
    }

    void nothing_is_stored_for_it() {
        Graph graph;
        GraphBuilder builder(graph);
        // The sum is in nobody's gradient; storing it to apply the ReLU again would gain nothing.
        const auto x = builder.parameter("x", {2, 3, 4, 4}, {}), z = builder.parameter("z", {2, 3, 4, 4}, {});
        const auto sum = builder.apply_one("add", {conv(builder, "w", x), conv(builder, "u", z)});
        const auto used_twice = builder.apply_one("add", {builder.apply_one("relu", {sum}), sum});
        graph = reapplied(std::move(graph), conv(builder, "v", used_twice));
        QVERIFY(std::ranges::none_of(graph.ops(), &Op::recomputed));
    }

    void a_relu_goes_back_through_a_norm_that_is_not_stored() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {2, 3, 4, 4});
        const auto n = plain_norm(builder, "n", conv(builder, "w", x));
        const auto y = builder.apply_one("add", {conv(builder, "v", builder.apply_one("relu", {n})), n, x});
        graph = reapplied(std::move(graph), y);
        std::vector<std::string> repeated;
        for (const auto& op : graph.ops())
            if (op.recomputed)
                repeated.push_back(op.kind);
        QCOMPARE(repeated, (std::vector<std::string>{"batch_norm_apply", "relu"}));
    }

    /// In a chain of residual blocks every second output stays, or restoring one would restore all before it.
    void chains_are_cut() {
        Graph graph;
        GraphBuilder builder(graph);
        auto x = builder.input("x", {2, 3, 4, 4});
        for (int i = 0; i < 6; ++i) {
            const auto name = std::to_string(i);
            const auto n = plain_norm(builder, "n" + name, conv(builder, "w" + name, x));
            x = builder.apply_one("relu", {builder.apply_one("add", {n, x})});
        }
        graph = reapplied(std::move(graph), x);
        QCOMPARE(count(graph, "batch_norm_apply"), 3);
        for (const auto& op : graph.ops())
            if (op.kind == "batch_norm_apply")
                for (auto input : op.inputs)
                    QVERIFY(input == no_tensor || !graph.producer(input) ||
                            !graph.op(*graph.producer(input)).recomputed);
    }

    void kept_tensors_are_read_as_they_are() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {2, 3, 4, 4});
        const auto h = builder.apply_one("relu", {plain_norm(builder, "n", conv(builder, "w", x))});
        graph.keep(h);
        graph = reapplied(std::move(graph), conv(builder, "v", h));
        QCOMPARE(count(graph, "batch_norm_apply"), 0);
    }
};

QTEST_APPLESS_MAIN(TestReapply)
#include "tst_reapply.moc"
