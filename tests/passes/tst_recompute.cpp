// SPDX-License-Identifier: Apache-2.0
#include "graph/autodiff.h"
#include "passes/counting.h"
#include "passes/passes.h"

#include <QTest>

using namespace espalier;

namespace {

/// Two segments of conv, batch norm, relu; the gradient of each weight.
struct TwoSegments {
    Graph graph;
    std::vector<TensorId> convolved, normed, outputs;
    TensorId loss = no_tensor;

    TwoSegments() {
        GraphBuilder builder(graph);
        auto x = builder.input("x", {2, 3, 4, 4});
        std::vector<TensorId> weights;
        for (const auto* name : {"one", "two"}) {
            const GraphBuilder::Scope segment(builder, name, true);
            weights.push_back(builder.parameter("w", {3, 3, 1, 1}, {}));
            convolved.push_back(builder.apply_one("conv2d", {x, weights.back()}));
            normed.push_back(plain_norm(builder, "norm", convolved.back()));
            const auto r = builder.apply_one("relu", {normed.back()});
            weights.push_back(builder.parameter("v", {3, 3, 1, 1}, {}));
            x = builder.apply_one("conv2d", {r, weights.back()});
            outputs.push_back(x);
        }
        loss = builder.apply_one("dot", {x, x});
        graph.keep(loss);
        for (const auto& [tensor, gradient] : differentiate(graph, loss, weights))
            graph.keep(gradient);
    }
};

bool reads(const Op& op, TensorId tensor) { return std::ranges::find(op.inputs, tensor) != op.inputs.end(); }

} // namespace

class TestRecompute : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void backward_reads_nothing_inner_of_a_segment() {
        const TwoSegments net;
        const auto graph = recompute(net.graph);
        for (const auto& op : graph.ops())
            if (op.stage == Stage::backward)
                for (const auto* inner : {&net.convolved, &net.normed})
                    for (auto tensor : *inner)
                        QVERIFY(!reads(op, tensor));
    }

    void repeated_ops_are_marked_and_few() {
        const TwoSegments net;
        const auto graph = recompute(net.graph);
        std::vector<std::string> repeated;
        for (const auto& op : graph.ops())
            if (op.recomputed) {
                QCOMPARE(op.stage, Stage::backward);
                QVERIFY(!op.segment.empty());
                repeated.push_back(op.kind);
            }
        // Of each segment the first conv, norm and relu; the last conv is only read by the next segment.
        QCOMPARE(repeated, (std::vector<std::string>{"conv2d", "batch_norm_apply", "relu", "conv2d", "batch_norm_apply",
                                                     "relu"}));
        QCOMPARE(graph.ops().size(), net.graph.ops().size() + 6);
    }

    void running_statistics_move_once() {
        const auto graph = recompute(TwoSegments().graph);
        QCOMPARE(count(graph, "batch_norm"), 2);
        for (const auto& op : graph.ops())
            if (op.kind == "batch_norm_apply")
                for (auto output : op.outputs)
                    QCOMPARE(graph.tensor(output).role, Role::activation);
    }

    void statistics_are_stored() {
        const auto graph = recompute(TwoSegments().graph);
        for (const auto& op : graph.ops())
            if (op.kind == "batch_norm_gradient" || op.kind == "batch_norm_apply") {
                const auto mean = op.kind == "batch_norm_apply" ? op.inputs[1] : op.inputs[2];
                QCOMPARE(graph.op(*graph.producer(mean)).kind, std::string("batch_norm"));
            }
    }

    void each_segment_is_repeated_just_before_its_backward() {
        const auto graph = recompute(TwoSegments().graph);
        // In the backward segments follow each other: two, then one, each with its repeats inside.
        std::vector<std::string> order;
        for (const auto& op : graph.ops())
            if (op.stage == Stage::backward && !op.segment.empty() && (order.empty() || order.back() != op.segment))
                order.push_back(op.segment);
        QCOMPARE(order, (std::vector<std::string>{"two", "one"}));
    }

    void ops_outside_of_segments_are_not_repeated() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto w = builder.parameter("w", {2, 3}, {});
        const auto loss = builder.apply_one("dot", {builder.apply_one("relu", {w}), builder.apply_one("softmax", {w})});
        for (const auto& [tensor, gradient] : differentiate(graph, loss, std::vector{w}))
            graph.keep(gradient);
        const auto ops = graph.ops().size();
        QCOMPARE(recompute(std::move(graph)).ops().size(), ops);
    }

    void activation_and_residual_are_repeated_with_the_norm() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.parameter("x", {2, 3, 4, 4}, {}), w = builder.parameter("w", {3, 3, 1, 1}, {});
        {
            const GraphBuilder::Scope segment(builder, "one", true);
            const auto sum =
                builder.apply_one("add", {plain_norm(builder, "n", builder.apply_one("conv2d", {x, w})), x});
            const auto y = builder.apply_one("conv2d", {builder.apply_one("relu", {sum}), w});
            static_cast<void>(builder.apply_one("dot", {y, y}));
        }
        const auto loss = graph.ops().back().outputs[0];
        for (const auto& [tensor, gradient] : differentiate(graph, loss, std::vector{x, w}))
            graph.keep(gradient);
        graph = recompute(fuse(std::move(graph)));
        const auto& apply = the(graph, "batch_norm_apply");
        QCOMPARE(apply.inputs[5], x);
        QCOMPARE(apply.attributes.text(), std::string("activation=relu"));
        // y of the norm, which the gradient masks by, is the repeated one.
        QCOMPARE(the(graph, "batch_norm_gradient").inputs[6], apply.outputs[0]);
    }
};

QTEST_APPLESS_MAIN(TestRecompute)
#include "tst_recompute.moc"
