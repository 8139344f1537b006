// SPDX-License-Identifier: Apache-2.0
#include "nn/cell.h"
#include "passes/counting.h"
#include "passes/step_values.h"

#include <QTest>

using namespace espalier;

namespace {

const Supports everything = [](const Graph&, const Op&) { return true; };

struct Network {
    Graph graph;
    TensorId loss = no_tensor;

    /// The dot of what `build` gives with random numbers.
    explicit Network(const std::function<TensorId(LayerBuilder&, TensorId)>& build) {
        GraphBuilder builder(graph);
        const auto x = builder.parameter("x", {2, 6, 7, 5}, {});
        LayerBuilder layers(builder, NormMode::training);
        const auto y = build(layers, x);
        loss = builder.apply_one("dot", {y, builder.input("target", graph.shape(y))});
    }
    [[nodiscard]] CompiledStep compile(const Toggles& toggles, const Supports& supports) const {
        std::vector<TensorId> parameters;
        for (std::size_t i = 0; i < graph.tensors().size(); ++i)
            if (graph.tensors()[i].role == Role::parameter)
                parameters.push_back(static_cast<TensorId>(i));
        return compile_step(graph, loss, parameters, toggles, {}, supports);
    }
};

TensorId block(LayerBuilder& layers, const std::string& name, const std::string& kind, TensorId x,
               std::int64_t stride = 1, bool affine = true) {
    const GraphBuilder::Scope scope(layers.ops(), name);
    return candidate(layers, kind, x, stride, affine, false);
}

int joined(const Graph& graph) { return count(graph, "separable_conv2d"); }

} // namespace

/// Joined ops give the values and gradients of the ops that they were, on the reference.
class TestFuseSeparable : public QObject {
    Q_OBJECT

    /// Compares losses, gradients and running statistics with those of the ops that are not joined.
    static void compare(const Network& network, int halves) {
        const auto plain = network.compile({}, {}), fused = network.compile({}, everything);
        QCOMPARE(joined(plain.graph), 0);
        QCOMPARE(joined(fused.graph), halves);
        QCOMPARE(count(fused.graph, "separable_pointwise_gradient"), halves);
        QCOMPARE(count(fused.graph, "separable_depthwise_gradient"), halves);
        const auto expected = StepValues::of(plain.graph), found = StepValues::of(fused.graph);
        QCOMPARE(found.kept.size(), expected.kept.size());
        for (const auto& [tensor, values] : expected.kept)
            QVERIFY2(difference(values, found.kept.at(tensor)) < 1e-6, std::to_string(tensor).c_str());
        QCOMPARE(found.persistent.size(), expected.persistent.size());
        for (const auto& [name, values] : expected.persistent)
            QVERIFY2(difference(values, found.persistent.at(name)) < 1e-6, name.c_str());
    }

private Q_SLOTS:
    void a_block_is_two_ops_forward_and_seven_backward() {
        for (const bool affine : {false, true}) {
            const Network network(
                [&](LayerBuilder& layers, TensorId x) { return block(layers, "a", "sep_conv_3x3", x, 1, affine); });
            compare(network, 2);
            const auto graph = network.compile({}, everything).graph;
            QCOMPARE(count(graph, "conv2d") + count(graph, "conv2d_input_gradient") +
                         count(graph, "conv2d_weight_gradient") + count(graph, "batch_norm") + count(graph, "relu") +
                         count(graph, "relu_gradient"),
                     0);
            QCOMPARE(count(graph, "batch_norm_apply"), 0);
            QCOMPARE(count(graph, "separable_filter_gradient"), 2);
            QCOMPARE(count(graph, "batch_norm_gradient"), 1);
            QCOMPARE(the(graph, "batch_norm_gradient").outputs[0], no_tensor);
        }
    }

    /// In halves a cast stands between the ReLU of an f32 tensor and the convolution.
    void a_relu_before_a_cast_goes_in_too() {
        const Network network([](LayerBuilder& layers, TensorId x) { return block(layers, "a", "sep_conv_3x3", x); });
        const Toggles halves{.precision = "bf16"};
        const auto plain = network.compile(halves, {}), fused = network.compile(halves, everything);
        QCOMPARE(joined(fused.graph), 2);
        QCOMPARE(count(plain.graph, "relu"), 1);
        QCOMPARE(count(fused.graph, "relu") + count(fused.graph, "relu_gradient"), 0);
        // That of all parameters and that of their gradients are absorbed.
        QCOMPARE(count(fused.graph, "cast"), count(plain.graph, "cast") - 2);
        const auto expected = StepValues::of(plain.graph), found = StepValues::of(fused.graph);
        for (const auto& [tensor, values] : expected.kept)
            QVERIFY(difference(values, found.kept.at(tensor)) < 1e-6);
    }

    /// One ReLU of one state, as the pass share leaves it.
    void blocks_with_one_input_share_its_relu() {
        const Network network([](LayerBuilder& layers, TensorId x) {
            return layers.ops().apply_one(
                "add", {block(layers, "a", "sep_conv_3x3", x), block(layers, "b", "sep_conv_5x5", x)});
        });
        compare(network, 4);
        QCOMPARE(count(network.compile({}, everything).graph, "relu"), 1);
    }

    void one_block_behind_the_other() {
        compare(Network([](LayerBuilder& layers, TensorId x) {
                    return block(layers, "b", "sep_conv_3x3", block(layers, "a", "sep_conv_3x3", x));
                }),
                4);
    }

    void strided_and_dilated_convolutions_stay() {
        compare(Network([](LayerBuilder& layers, TensorId x) { return block(layers, "a", "dil_conv_3x3", x); }), 0);
        // The second half of a strided block begins with the batch norm of one that stays.
        compare(Network([](LayerBuilder& layers, TensorId x) { return block(layers, "a", "sep_conv_3x3", x, 2); }), 1);
    }

    void a_half_that_the_backend_refuses_stays() {
        const Network network([](LayerBuilder& layers, TensorId x) { return block(layers, "a", "sep_conv_3x3", x); });
        for (const std::size_t refused : {std::size_t{0}, std::size_t{1}}) {
            const auto plain = network.compile({}, {});
            const auto last_filter = *plain.graph.find("a.5.weight");
            const auto step = network.compile({}, [&](const Graph&, const Op& op) {
                const bool last = std::ranges::find(op.inputs, last_filter) != op.inputs.end();
                return op.kind != "separable_conv2d" || last != (refused == 1);
            });
            // The first half's batch norm is masked in its gradient: alone it stays.
            QCOMPARE(joined(step.graph), refused == 1 ? 0 : 1);
            const auto expected = StepValues::of(plain.graph), found = StepValues::of(step.graph);
            for (const auto& [tensor, values] : expected.kept)
                QVERIFY(difference(values, found.kept.at(tensor)) < 1e-6);
        }
    }

    void toggles_leave_it_out() {
        const Network network([](LayerBuilder& layers, TensorId x) { return block(layers, "a", "sep_conv_3x3", x); });
        for (const Toggles& toggles :
             {Toggles{.fused = false}, Toggles{.reference_separable = true}, Toggles{.recompute = true},
              Toggles{.safe_mode = true}, Toggles{.precision = "fp32"}})
            QCOMPARE(joined(network.compile(toggles, everything).graph), 0);
    }
};

QTEST_APPLESS_MAIN(TestFuseSeparable)
#include "tst_fuse_separable.moc"
