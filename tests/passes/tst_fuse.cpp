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

std::vector<TensorId> parameters(const Graph& graph) {
    std::vector<TensorId> found;
    for (std::size_t i = 0; i < graph.tensors().size(); ++i)
        if (graph.tensors()[i].role == Role::parameter)
            found.push_back(static_cast<TensorId>(i));
    return found;
}

/// Differentiates the dot of y with itself and fuses.
Graph trained(Graph graph, TensorId y) {
    GraphBuilder builder(graph);
    const auto loss = builder.apply_one("dot", {y, y});
    for (const auto& [tensor, gradient] : differentiate(graph, loss, parameters(graph)))
        graph.keep(gradient);
    return fuse(std::move(graph));
}

} // namespace

class TestFuse : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void relu_goes_into_the_op_before_it() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {2, 3, 4, 4});
        const auto y = builder.apply_one("relu", {conv(builder, "w", x)});
        const auto z = builder.apply_one("relu", {builder.apply_one("add", {y, x})});
        const auto mean = builder.input("mean", {3}), var = builder.input("var", {3});
        const auto n = builder.apply_one("relu", {builder.apply_one("batch_norm_inference", {z, mean, var})});
        graph.keep(n);
        graph = fuse(std::move(graph));
        QCOMPARE(kinds(graph), (std::vector<std::string>{"conv2d", "add", "batch_norm_inference"}));
        for (const auto& op : graph.ops())
            QCOMPARE(op.attributes.text("activation"), std::string("relu"));
        QCOMPARE(graph.op(2).outputs[0], n);
    }

    void a_value_that_others_read_or_keep_is_not_swallowed() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {2, 3, 4, 4});
        const auto before = conv(builder, "w", x);
        const auto y = builder.apply_one("relu", {before});
        const auto z = builder.apply_one("add", {y, before});
        const auto kept = conv(builder, "v", z);
        graph.keep(kept);
        graph.keep(builder.apply_one("relu", {kept}));
        const auto ops = graph.ops().size();
        QCOMPARE(fuse(std::move(graph)).ops().size(), ops);
    }

    void norm_and_relu_with_their_gradients() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {2, 3, 4, 4});
        const auto y = builder.apply_one("relu", {plain_norm(builder, "n", conv(builder, "w", x))});
        graph = trained(std::move(graph), y);
        QCOMPARE(count(graph, "relu") + count(graph, "relu_gradient"), 0);
        const auto& gradient = the(graph, "batch_norm_gradient");
        QCOMPARE(gradient.attributes.text("activation"), std::string("relu"));
        QCOMPARE(gradient.inputs[6], y);
        QCOMPARE(gradient.outputs[3], no_tensor); // nobody else reads the masked gradient
        QCOMPARE(the(graph, "batch_norm").outputs[0], y);
    }

    /// relu(batch_norm(conv) + x): one op forward; its gradient also gives the side of x.
    void residual_block() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.apply_one("relu", {builder.parameter("x", {2, 3, 4, 4}, {})});
        const auto sum = builder.apply_one("add", {plain_norm(builder, "n", conv(builder, "w", x)), x});
        const auto y = builder.apply_one("relu", {sum});
        graph = trained(std::move(graph), y);
        QCOMPARE(count(graph, "relu"), 1);
        const auto& norm = the(graph, "batch_norm");
        QCOMPARE(norm.inputs[5], x);
        QCOMPARE(norm.outputs[0], y);
        QCOMPARE(norm.attributes.text("activation"), std::string("relu"));
        const auto& gradient = the(graph, "batch_norm_gradient");
        QVERIFY(gradient.outputs[3] != no_tensor);
        QCOMPARE(count(graph, "relu_gradient"), 1); // of the first relu alone
        const auto meets = std::ranges::count_if(graph.ops(), [&](const Op& op) {
            return op.kind == "add" && std::ranges::find(op.inputs, gradient.outputs[3]) != op.inputs.end();
        });
        QCOMPARE(meets, 1);
    }

    /// Both summands are norms (a block with a projection): the later takes the other as its residual.
    void of_two_norms_the_later_takes_the_sum() {
        for (const bool shortcut_first : {false, true}) {
            Graph graph;
            GraphBuilder builder(graph);
            const auto x = builder.parameter("x", {2, 3, 4, 4}, {});
            const auto a = plain_norm(builder, "a", conv(builder, "wa", x));
            const auto b = plain_norm(builder, "b", conv(builder, "wb", x));
            const auto sum = builder.apply_one("add", shortcut_first ? std::vector{b, a} : std::vector{a, b});
            const auto y = builder.apply_one("relu", {sum});
            graph = trained(std::move(graph), y);
            QCOMPARE(count(graph, "batch_norm"), 2);
            QCOMPARE(count(graph, "relu_gradient") + count(graph, "relu"), 0);
            int residuals = 0, masked = 0;
            for (const auto& op : graph.ops()) {
                if (op.kind == "batch_norm" && op.inputs[5] != no_tensor) {
                    ++residuals;
                    QCOMPARE(op.inputs[5], a);
                    QCOMPARE(op.outputs[0], y);
                }
                if (op.kind == "batch_norm_gradient" && op.outputs[3] != no_tensor)
                    ++masked;
            }
            QCOMPARE(residuals, 1);
            QCOMPARE(masked, 1);
        }
    }

    void sum_without_relu_is_a_residual_too() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.parameter("x", {2, 3, 4, 4}, {});
        const auto y = builder.apply_one("add", {x, plain_norm(builder, "n", conv(builder, "w", x))});
        graph = trained(std::move(graph), y);
        QCOMPARE(the(graph, "batch_norm").inputs[5], x);
        QCOMPARE(the(graph, "batch_norm").outputs[0], y);
        QCOMPARE(the(graph, "batch_norm_gradient").outputs[3], no_tensor);
    }

    void a_norm_added_to_itself_stays() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto n = plain_norm(builder, "n", builder.parameter("x", {2, 3, 4, 4}, {}));
        const auto y = builder.apply_one("add", {n, n});
        graph = trained(std::move(graph), y);
        QCOMPARE(the(graph, "batch_norm").inputs[5], no_tensor);
    }

    void nested_adds_become_one() {
        Graph graph;
        GraphBuilder builder(graph);
        std::vector<TensorId> x;
        for (const auto* name : {"a", "b", "c", "d"})
            x.push_back(builder.input(name, {2, 3}));
        const auto ab = builder.apply_one("add", {x[0], x[1]});
        const auto abc = builder.apply_one("add", {ab, x[2]});
        const auto y = builder.apply_one("add", {x[3], abc});
        graph.keep(y);
        graph = fuse(std::move(graph));
        QCOMPARE(kinds(graph), std::vector<std::string>{"add"});
        QCOMPARE(graph.op(0).inputs, (std::vector<TensorId>{x[3], x[0], x[1], x[2]}));
    }

    void an_add_read_twice_stays() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto a = builder.input("a", {2, 3}), b = builder.input("b", {2, 3});
        const auto ab = builder.apply_one("add", {a, b});
        graph.keep(builder.apply_one("add", {ab, ab}));
        QCOMPARE(fuse(std::move(graph)).ops().size(), std::size_t{2});
    }

    void a_kept_masked_gradient_stays_available() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto n = plain_norm(builder, "n", builder.parameter("x", {2, 3, 4, 4}, {}));
        const auto y = builder.apply_one("relu", {n});
        const auto loss = builder.apply_one("dot", {y, y});
        const auto gradients = differentiate(graph, loss, std::vector{n});
        graph.keep(gradients.at(n));
        graph = fuse(std::move(graph));
        QVERIFY(graph.producer(gradients.at(n)).has_value());
    }
};

QTEST_APPLESS_MAIN(TestFuse)
#include "tst_fuse.moc"
