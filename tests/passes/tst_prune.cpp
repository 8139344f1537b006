// SPDX-License-Identifier: Apache-2.0
#include "graph/autodiff.h"
#include "passes/counting.h"
#include "passes/passes.h"

#include <QTest>

using namespace espalier;

class TestPrune : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void what_nobody_reads_goes_with_what_led_to_it() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {2, 3});
        graph.keep(builder.apply_one("softmax", {x}));
        static_cast<void>(builder.apply_one("relu", {builder.apply_one("relu", {x})}));
        QCOMPARE(kinds(prune(std::move(graph))), std::vector<std::string>{"softmax"});
    }

    void ops_that_change_something_stay() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {4, 3});
        static_cast<void>(plain_norm(builder, "moves", x));
        static_cast<void>(plain_norm(builder, "frozen", x, {{"update_running", false}}));
        const auto step = builder.buffer("step", {16}, {}), history = builder.buffer("history", {8, 1}, {});
        static_cast<void>(builder.apply("record", {step, builder.apply_one("dot", {x, x})}, {}, {history}));
        QCOMPARE(kinds(prune(std::move(graph))), (std::vector<std::string>{"batch_norm", "dot", "record"}));
    }

    void gradients_that_no_update_reads_go() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {4, 3}), w = builder.parameter("w", {2, 3}, {}),
                   b = builder.parameter("b", {2}, {});
        const auto y = builder.apply_one("linear", {x, w, b});
        const auto loss = builder.apply_one("dot", {y, y});
        const auto gradients = differentiate(graph, loss, std::vector{w, b});
        graph.keep(gradients.at(w));
        const auto pruned = prune(std::move(graph));
        QCOMPARE(count(pruned, "channel_sum"), 0);
        QCOMPARE(count(pruned, "linear_weight_gradient"), 1);
    }

    void unread_outputs_of_a_norms_gradient_are_left_out() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {4, 3}), mean = builder.input("mean", {3}),
                   inv_std = builder.input("inv_std", {3});
        const auto outputs = builder.apply("batch_norm_gradient", {x, x, mean, inv_std});
        graph.keep(outputs[2]);
        const auto pruned = prune(std::move(graph));
        QCOMPARE(the(pruned, "batch_norm_gradient").outputs,
                 (std::vector<TensorId>{outputs[0], no_tensor, outputs[2], no_tensor}));
    }
};

QTEST_APPLESS_MAIN(TestPrune)
#include "tst_prune.moc"
