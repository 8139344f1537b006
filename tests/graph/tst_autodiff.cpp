// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "graph/autodiff.h"
#include "graph/builder.h"

#include <QTest>
#include <algorithm>
#include <map>

using namespace espalier;

namespace {

std::map<std::string, int> kinds(const Graph& graph, Stage stage = Stage::backward) {
    std::map<std::string, int> count;
    for (const auto& op : graph.ops())
        if (op.stage == stage)
            ++count[op.kind];
    return count;
}

/// images -> conv -> batch norm -> relu -> pool -> linear -> cross entropy, all parameters named.
struct SmallNetwork {
    Graph graph;
    TensorId images, conv, bias, norm_weight, norm_bias, linear, loss;

    SmallNetwork() {
        GraphBuilder builder(graph);
        images = builder.input("images", {4, 3, 8, 8});
        const auto labels = builder.input("labels", {4}, DType::i32);
        const GraphBuilder::Scope block(builder, "block", true);
        conv = builder.parameter("conv", {6, 3, 3, 3}, {});
        bias = builder.parameter("bias", {6}, {});
        norm_weight = builder.parameter("norm_weight", {6}, {});
        norm_bias = builder.parameter("norm_bias", {6}, {});
        linear = builder.parameter("linear", {5, 6}, {});
        const auto mean = builder.buffer("mean", {6}, {}), var = builder.buffer("var", {6}, {});
        auto x = builder.apply_one("conv2d", {images, conv, bias}, {{"stride", std::int64_t{2}}});
        x = builder.apply("batch_norm", {x, norm_weight, norm_bias, mean, var}, {}, {mean, var})[0];
        x = builder.apply_one("relu", {x});
        x = builder.apply_one("linear", {builder.apply_one("global_avg_pool", {x}), linear});
        loss = builder.apply("cross_entropy", {x, labels})[0];
    }
};

} // namespace

class TestAutodiff : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void gradients_have_the_shapes_of_their_tensors() {
        SmallNetwork net;
        const std::vector<TensorId> wanted{net.conv, net.bias, net.norm_weight, net.norm_bias, net.linear, net.images};
        const auto gradients = differentiate(net.graph, net.loss, wanted);
        QCOMPARE(gradients.size(), wanted.size());
        for (const auto& [tensor, gradient] : gradients)
            QCOMPARE(net.graph.shape(gradient), net.graph.shape(tensor));
    }

    void only_what_is_asked_for_is_computed() {
        {
            SmallNetwork net;
            const auto gradients = differentiate(net.graph, net.loss, std::vector{net.conv});
            const auto backward = kinds(net.graph);
            QCOMPARE(gradients.size(), std::size_t{1});
            QCOMPARE(backward.count("conv2d_input_gradient"), std::size_t{0});
            QCOMPARE(backward.count("linear_weight_gradient"), std::size_t{0});
            QCOMPARE(backward.count("channel_sum"), std::size_t{0});
            QCOMPARE(backward.at("conv2d_weight_gradient"), 1);
        }
        {
            SmallNetwork net;
            static_cast<void>(differentiate(net.graph, net.loss, std::vector{net.images}));
            QCOMPARE(kinds(net.graph).count("conv2d_weight_gradient"), std::size_t{0});
            for (const auto& op : net.graph.ops())
                if (op.kind == "batch_norm_gradient")
                    QVERIFY(op.outputs[1] == no_tensor && op.outputs[2] == no_tensor && op.outputs[3] == no_tensor);
        }
        {
            SmallNetwork net;
            static_cast<void>(differentiate(net.graph, net.loss, std::vector{net.linear}));
            QCOMPARE(kinds(net.graph),
                     (std::map<std::string, int>{
                         {"constant", 1}, {"cross_entropy_gradient", 1}, {"linear_weight_gradient", 1}}));
        }
    }

    void what_the_loss_does_not_depend_on_is_absent() {
        SmallNetwork net;
        GraphBuilder builder(net.graph);
        const auto other = builder.parameter("other", {3}, {});
        static_cast<void>(builder.apply_one("relu", {other}));
        const auto ops = net.graph.ops().size();
        QVERIFY(differentiate(net.graph, net.loss, std::vector{other}).empty());
        QVERIFY(net.graph.ops().size() <= ops + 1); // nothing but the constant 1
    }

    void gradients_that_meet_are_added_once() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.parameter("x", {3, 4}, {});
        const auto a = builder.apply_one("relu", {x}), b = builder.apply_one("softmax", {x});
        const auto loss = builder.apply_one("dot", {builder.apply_one("add", {a, b, x}), x});
        const auto gradients = differentiate(graph, loss, std::vector{x});
        const auto& sum = graph.op(*graph.producer(gradients.at(x)));
        QCOMPARE(sum.kind, std::string("add"));
        QCOMPARE(sum.inputs.size(), std::size_t{4}); // from relu, softmax, add and dot
        QCOMPARE(kinds(graph).at("add"), 1);
    }

    void a_tensor_read_twice_by_one_op_gets_both_gradients() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.parameter("x", {3}, {});
        const auto loss = builder.apply_one("dot", {x, x});
        const auto gradients = differentiate(graph, loss, std::vector{x});
        QCOMPARE(graph.op(*graph.producer(gradients.at(x))).inputs.size(), std::size_t{2});
    }

    /// The sum of a state's gradients is formed right after the op that gave the last of them, not at its first use.
    void sums_are_formed_early() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto w = builder.parameter("w", {3}, {});
        const auto x = builder.apply_one("relu", {w});
        const auto between = builder.apply_one("softmax", {w}, {{"axis", std::int64_t{0}}}); // does not read x
        const auto loss = builder.apply_one("dot", {builder.apply_one("add", {x, between}), x});
        static_cast<void>(differentiate(graph, loss, std::vector{w}));
        std::size_t sum = 0, softmax = 0;
        for (std::size_t i = 0; i < graph.ops().size(); ++i) {
            if (graph.op(static_cast<OpId>(i)).stage != Stage::backward)
                continue;
            if (graph.ops()[i].kind == "add" && sum == 0)
                sum = i;
            if (graph.ops()[i].kind == "softmax_gradient")
                softmax = i;
        }
        QVERIFY(sum > 0 && sum < softmax);
    }

    void backward_ops_belong_to_the_layer_of_their_forward() {
        SmallNetwork net;
        static_cast<void>(differentiate(net.graph, net.loss, std::vector{net.conv, net.linear}));
        for (const auto& op : net.graph.ops())
            if (op.stage == Stage::backward && op.kind != "constant") {
                QCOMPARE(op.layer, std::string("block"));
                QCOMPARE(op.segment, std::string("block"));
            }
    }

    void activations_of_ops_are_differentiated() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.parameter("x", {1, 2, 4, 4}, {}), w = builder.parameter("w", {2, 2, 1, 1}, {});
        const auto y = builder.apply_one("conv2d", {x, w}, {{"activation", std::string("relu")}});
        const auto z = builder.apply_one("add", {y, x}, {{"activation", std::string("relu")}});
        const auto loss = builder.apply_one("dot", {z, z});
        static_cast<void>(differentiate(graph, loss, std::vector{x, w}));
        QCOMPARE(kinds(graph).at("relu_gradient"), 2);
        for (const auto& op : graph.ops())
            if (op.kind.starts_with("conv2d_"))
                QVERIFY(!op.attributes.has("activation"));
    }

    void residual_of_a_batch_norm_gets_the_masked_gradient() {
        for (const bool relu : {false, true}) {
            Graph graph;
            GraphBuilder builder(graph);
            const auto x = builder.parameter("x", {4, 3}, {}), residual = builder.parameter("r", {4, 3}, {});
            const auto mean = builder.buffer("mean", {3}, {}), var = builder.buffer("var", {3}, {});
            const auto y = builder.apply("batch_norm", {x, no_tensor, no_tensor, mean, var, residual},
                                         {{"activation", std::string(relu ? "relu" : "")}}, {mean, var})[0];
            const auto loss = builder.apply_one("dot", {y, y});
            const auto gradients = differentiate(graph, loss, std::vector{x, residual});
            const auto& producer = graph.op(*graph.producer(gradients.at(residual)));
            QCOMPARE(producer.kind, std::string(relu ? "batch_norm_gradient" : "add"));
        }
    }

    void transposed_convolutions_use_the_convolutions_ops() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.parameter("x", {2, 6, 3, 3}, {}), w = builder.parameter("w", {6, 2, 3, 3}, {});
        const auto b = builder.parameter("b", {4}, {});
        const auto y = builder.apply_one(
            "conv_transpose2d", {x, w, b},
            {{"stride", std::int64_t{2}}, {"output_padding", std::int64_t{1}}, {"groups", std::int64_t{2}}});
        const auto loss = builder.apply_one("dot", {y, y});
        const auto gradients = differentiate(graph, loss, std::vector{x, w, b});
        for (const auto& [tensor, gradient] : gradients)
            QCOMPARE(graph.shape(gradient), graph.shape(tensor));
        QCOMPARE(graph.op(*graph.producer(gradients.at(x))).kind, std::string("conv2d"));
    }

    /// The gradient of a tensor's sum starts from ones in its shape.
    void a_loss_of_many_numbers_is_summed() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.parameter("x", {2, 3}, {});
        const auto y = builder.apply_one("softmax", {x});
        const auto gradients = differentiate(graph, y, std::vector{x});
        const auto ops = graph.ops();
        const auto seed = std::ranges::find(ops, "constant", &Op::kind);
        QVERIFY(seed != ops.end());
        QCOMPARE(graph.shape(seed->outputs[0]), graph.shape(y));
        QCOMPARE(graph.op(*graph.producer(gradients.at(x))).inputs[1], seed->outputs[0]);
    }

    void refusals_say_why() {
        SmallNetwork net;
        QVERIFY_THROWS_EXCEPTION(ConfigError, differentiate(net.graph, net.loss, std::vector{net.conv}, net.images));
        Graph graph;
        GraphBuilder builder(graph);
        const auto logits = builder.parameter("logits", {2, 3}, {});
        const auto labels = builder.input("labels", {2}, DType::i32);
        const auto count = builder.apply_one("correct_count", {logits, labels});
        QVERIFY_THROWS_EXCEPTION(ConfigError, differentiate(graph, count, std::vector{logits}));
    }
};

QTEST_APPLESS_MAIN(TestAutodiff)
#include "tst_autodiff.moc"
